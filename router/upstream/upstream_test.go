package upstream

import "testing"

func TestRecentRemembersTheLast(t *testing.T) {
	var r recent
	if r.has(0) || r.has(1) {
		t.Error("remembers what it was not told; 0 stands for an id that is not ours")
	}
	for id := uint64(1); id <= 100; id++ {
		r.add(id)
	}
	if r.has(0) || r.has(100-uint64(len(r.ids))) || !r.has(101-uint64(len(r.ids))) || !r.has(100) {
		t.Errorf("remembers %v", r.ids)
	}
}
