package calls

import "testing"

func TestRecentRemembersTheLast(t *testing.T) {
	var r Recent
	if r.Has(0) || r.Has(1) {
		t.Error("remembers what it was not told; 0 stands for an id that is not ours")
	}
	for id := uint64(1); id <= 100; id++ {
		r.Add(id)
	}
	if r.Has(0) || r.Has(100-uint64(len(r.ids))) || !r.Has(101-uint64(len(r.ids))) || !r.Has(100) {
		t.Errorf("remembers %v", r.ids)
	}
}
