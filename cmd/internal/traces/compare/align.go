package compare

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"toolman/cmd/internal/traces/recording"
)

// A pairing says which calls of two sessions belong together.
type pairing struct {
	a, b    []*recording.Call
	ofA     []int  // for each call of a, the index of its call in b, or -1
	ofB     []int  // the other way
	inOrder []bool // for each call of a, whether the pair is part of the common order
}

// smallTable is up to how many pairs of calls the longest common sequence is computed exactly.
const smallTable = 4 << 20

// align pairs the calls of two sessions.
func align(a, b []*recording.Call) *pairing {
	p := &pairing{a: a, b: b, ofA: make([]int, len(a)), ofB: make([]int, len(b)), inOrder: make([]bool, len(a))}
	for i := range p.ofA {
		p.ofA[i] = -1
	}
	for i := range p.ofB {
		p.ofB[i] = -1
	}
	numbers := map[string]int{}
	number := func(calls []*recording.Call) []int {
		keys := make([]int, len(calls))
		for i, c := range calls {
			n, ok := numbers[c.Key()]
			if !ok {
				n = len(numbers)
				numbers[c.Key()] = n
			}
			keys[i] = n
		}
		return keys
	}
	p.common(number(a), number(b), 0, 0)
	p.rest((*recording.Call).Key)
	p.gaps()
	p.rest((*recording.Call).Base)
	return p
}

func (p *pairing) pair(i, j int, inOrder bool) {
	p.ofA[i], p.ofB[j], p.inOrder[i] = j, i, inOrder
}

// common pairs what both sequences have in the same order: first both ends, then around the keys
// that each has once (the patience diff).
func (p *pairing) common(a, b []int, offA, offB int) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		p.pair(offA, offB, true)
		a, b, offA, offB = a[1:], b[1:], offA+1, offB+1
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		p.pair(offA+len(a)-1, offB+len(b)-1, true)
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) == 0 || len(b) == 0 {
		return
	}
	anchors := unique(a, b)
	if len(anchors) == 0 {
		p.repeated(a, b, offA, offB)
		return
	}
	fromA, fromB := 0, 0
	for _, at := range anchors {
		p.common(a[fromA:at[0]], b[fromB:at[1]], offA+fromA, offB+fromB)
		p.pair(offA+at[0], offB+at[1], true)
		fromA, fromB = at[0]+1, at[1]+1
	}
	p.common(a[fromA:], b[fromB:], offA+fromA, offB+fromB)
}

// unique returns the longest sequence of keys that both have exactly once, as pairs of indexes.
func unique(a, b []int) [][2]int {
	type places struct{ countA, countB, inA, inB int }
	at := make(map[int]*places)
	for i, key := range a {
		if at[key] == nil {
			at[key] = new(places)
		}
		at[key].countA++
		at[key].inA = i
	}
	for i, key := range b {
		if p := at[key]; p != nil {
			p.countB++
			p.inB = i
		}
	}
	var pairs [][2]int // in the order of a
	for i, key := range a {
		if p := at[key]; p.countA == 1 && p.countB == 1 {
			pairs = append(pairs, [2]int{i, p.inB})
		}
	}
	return increasing(pairs)
}

// increasing returns a longest subsequence of pairs whose second numbers increase.
func increasing(pairs [][2]int) [][2]int {
	var tops []int // tops[n] is the index of the pair that ends the best sequence of n+1 pairs
	before := make([]int, len(pairs))
	for i, pair := range pairs {
		n := sort.Search(len(tops), func(n int) bool { return pairs[tops[n]][1] >= pair[1] })
		before[i] = -1
		if n > 0 {
			before[i] = tops[n-1]
		}
		if n == len(tops) {
			tops = append(tops, i)
		}
		tops[n] = i
	}
	if len(tops) == 0 {
		return nil
	}
	var found [][2]int
	for i := tops[len(tops)-1]; i >= 0; i = before[i] {
		found = append(found, pairs[i])
	}
	slices.Reverse(found)
	return found
}

// repeated pairs sequences in which all keys that both have repeat: by their longest common
// subsequence, or if that takes too long, each with the next that is like it.
func (p *pairing) repeated(a, b []int, offA, offB int) {
	if len(a) > smallTable/len(b) {
		next := 0
		for i, key := range a {
			if n := slices.Index(b[next:min(len(b), next+1000)], key); n >= 0 {
				p.pair(offA+i, offB+next+n, true)
				next += n + 1
			}
		}
		return
	}
	width := len(b) + 1
	longest := make([]int32, (len(a)+1)*width) // of a[i:] and b[j:]
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i*width+j] = longest[(i+1)*width+j+1] + 1
			} else {
				longest[i*width+j] = max(longest[(i+1)*width+j], longest[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			p.pair(offA+i, offB+j, true)
			i, j = i+1, j+1
		case longest[(i+1)*width+j] >= longest[i*width+j+1]:
			i++
		default:
			j++
		}
	}
}

// rest pairs the calls without a partner that have the same key, wherever they are.
func (p *pairing) rest(key func(*recording.Call) string) {
	free := make(map[string][]int)
	for j, c := range p.b {
		if p.ofB[j] < 0 {
			free[key(c)] = append(free[key(c)], j)
		}
	}
	for i, c := range p.a {
		if js := free[key(c)]; p.ofA[i] < 0 && len(js) > 0 {
			p.pair(i, js[0], false)
			free[key(c)] = js[1:]
		}
	}
}

// gaps pairs, between two pairs of the common order, calls of the same method and name.
func (p *pairing) gaps() {
	fromB := 0
	for i := 0; i <= len(p.a); i++ {
		if i < len(p.a) && !p.inOrder[i] {
			continue
		}
		// a[fromA:i] is the gap of a that ends here
		fromA := i
		for fromA > 0 && !p.inOrder[fromA-1] {
			fromA--
		}
		toB := len(p.b)
		if i < len(p.a) {
			toB = p.ofA[i]
		}
		p.gap(fromA, i, fromB, toB)
		fromB = toB + 1
	}
}

func (p *pairing) gap(fromA, toA, fromB, toB int) {
	free := make(map[string][]int)
	for j := fromB; j < toB; j++ {
		if p.ofB[j] < 0 {
			free[p.b[j].Base()] = append(free[p.b[j].Base()], j)
		}
	}
	for i := fromA; i < toA; i++ {
		if js := free[p.a[i].Base()]; p.ofA[i] < 0 && len(js) > 0 {
			p.ofA[i], p.ofB[js[0]] = js[0], i
			free[p.a[i].Base()] = js[1:]
		}
	}
}

// An order answers what came before and after the calls of the common order.
type order struct {
	byStart  []int // where calls in order begin in a, ascending
	earliest []int // for each of byStart, where the first of it and those behind it ends in b
	byEnd    []int // where they end in a, ascending
	latest   []int // for each of byEnd, where the last of it and those before it begins in b
}

func (p *pairing) order() *order {
	var inOrder []int
	for i, ok := range p.inOrder {
		if ok {
			inOrder = append(inOrder, i)
		}
	}
	o := new(order)
	for _, i := range inOrder {
		o.byStart = append(o.byStart, start(p.a[i]))
		o.earliest = append(o.earliest, ended(p.b[p.ofA[i]]))
	}
	for n := len(o.earliest) - 2; n >= 0; n-- {
		o.earliest[n] = min(o.earliest[n], o.earliest[n+1])
	}
	slices.SortFunc(inOrder, func(i, j int) int { return cmp.Compare(ended(p.a[i]), ended(p.a[j])) })
	for n, i := range inOrder {
		o.byEnd = append(o.byEnd, ended(p.a[i]))
		o.latest = append(o.latest, start(p.b[p.ofA[i]]))
		if n > 0 {
			o.latest[n] = max(o.latest[n], o.latest[n-1])
		}
	}
	return o
}

// moved reports whether a pair changed its place: a call of the common order came wholly before it
// in one session and wholly after it in the other. Calls that overlap have no order.
func (o *order) moved(a, b *recording.Call) bool {
	if n := sort.SearchInts(o.byStart, ended(a)); n < len(o.byStart) && o.earliest[n] < start(b) {
		return true
	}
	n := sort.SearchInts(o.byEnd, start(a)) - 1
	return n >= 0 && o.latest[n] > ended(b)
}

func start(c *recording.Call) int { return c.Request.At }

func ended(c *recording.Call) int {
	if at, ok := c.Ended(); ok {
		return at
	}
	return math.MaxInt
}
