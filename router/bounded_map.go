package router

// boundedMap remembers things by their keys, and forgets the oldest of them when they
// are too many. The zero value is empty.
type boundedMap[K comparable, V any] struct {
	all  map[K]V
	keys []K // in the order they came, in a ring
	next int // where the oldest is, once the ring is full
}

// add remembers v, unless there is something with the key already.
func (n *boundedMap[K, V]) add(key K, v V, most int) {
	if _, known := n.all[key]; known {
		return
	}
	if n.all == nil {
		n.all = map[K]V{}
	}
	n.all[key] = v
	if len(n.keys) < most {
		n.keys = append(n.keys, key)
		return
	}
	delete(n.all, n.keys[n.next])
	n.keys[n.next] = key
	n.next = (n.next + 1) % most
}

// get returns what has the key, or the zero value.
func (n *boundedMap[K, V]) get(key K) V { return n.all[key] }
