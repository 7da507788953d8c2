package jsonrpc

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

func TestCallsGivesEveryCallOutOnce(t *testing.T) {
	const workers, each = 8, 200
	var c Pending[int]
	ids := make(chan uint64, workers*each)
	var adding, taking sync.WaitGroup
	for w := range workers {
		adding.Go(func() {
			for i := range each {
				id, ok := c.Add(w*each + i)
				if !ok {
					t.Error("refused")
				}
				ids <- id
			}
		})
	}
	taken := make([]atomic.Int32, workers*each)
	take := func(call int, ok bool) {
		if ok {
			taken[call].Add(1)
		}
	}
	// A reply, a time-out and a cancellation race for each.
	for range 3 {
		taking.Go(func() {
			for id := range ids {
				var inner sync.WaitGroup
				inner.Go(func() { take(c.Take(id)) })
				call, ok := c.Get(id)
				if ok {
					_, call, ok = c.TakeIf(func(other int) bool { return other == call })
					take(call, ok)
				}
				inner.Wait()
				if _, ok := c.Take(id); ok {
					t.Error("taken after it was taken")
				}
			}
		})
	}
	adding.Wait()
	close(ids)
	taking.Wait()
	for _, call := range c.Close() {
		taken[call].Add(1)
	}
	for call := range taken {
		if n := taken[call].Load(); n != 1 {
			t.Fatalf("call %d was taken %d times", call, n)
		}
	}
}

func TestCallsIDsAreNewUnguessableAndSmall(t *testing.T) {
	var starts []uint64
	steps := map[uint64]bool{}
	for range 4 {
		var c Pending[struct{}]
		last := uint64(0)
		for i := range 10_000 {
			id, _ := c.Add(struct{}{})
			if id <= last || id >= 1<<53 {
				t.Fatalf("id %d after %d", id, last)
			}
			if got, ok := ParseID(strconv.AppendUint(nil, id, 10)); !ok || got != id {
				t.Fatalf("ParseID reads %d as %d, %v", id, got, ok)
			}
			if i == 0 {
				starts = append(starts, id)
			} else {
				steps[id-last] = true
			}
			last = id
			c.Take(id)
		}
	}
	if starts[0] == starts[1] && starts[1] == starts[2] {
		t.Errorf("tables start at the same id: %d", starts)
	}
	if len(steps) < 32 {
		t.Errorf("only %d different steps between ids", len(steps))
	}
}

func TestCallsTakeIfTakesTheNewest(t *testing.T) {
	var c Pending[string]
	c.Add("a")
	second, _ := c.Add("a")
	c.Add("b")
	id, call, ok := c.TakeIf(func(s string) bool { return s == "a" })
	if id != second || call != "a" || !ok {
		t.Errorf("got %d %q %v, want %d", id, call, ok, second)
	}
	if _, _, ok := c.TakeIf(func(s string) bool { return s == "x" }); ok || c.Len() != 2 {
		t.Errorf("took what does not match, %d left", c.Len())
	}
}

func TestCallsAfterDrain(t *testing.T) {
	var c Pending[string]
	id, _ := c.Add("a")
	n := 0
	c.Each(func(got uint64, call string) {
		if got != id || call != "a" {
			t.Errorf("Each gave %d %q", got, call)
		}
		n++
	})
	if n != 1 || c.Len() != 1 {
		t.Errorf("Each gave %d calls, Len is %d", n, c.Len())
	}
	if all := c.Close(); len(all) != 1 || all[0] != "a" {
		t.Errorf("drained %q", all)
	}
	if _, ok := c.Add("b"); ok {
		t.Error("took a call after Drain")
	}
	if _, ok := c.Take(id); ok || c.Len() != 0 {
		t.Error("a drained call is still there")
	}
	if all := c.Close(); len(all) != 0 {
		t.Errorf("a second Drain gave %q", all)
	}
}

func TestParseIDReadsOnlyWhatCallsMakes(t *testing.T) {
	for token, want := range map[string]uint64{"1": 1, "17": 17, "4294967295": 1<<32 - 1, "9007199254740991": 1<<53 - 1} {
		if got, ok := ParseID([]byte(token)); !ok || got != want {
			t.Errorf("%s: got %d, %v", token, got, ok)
		}
	}
	for _, token := range []string{"", "0", "01", "-1", "+1", "1.0", "1e3", "1 ", " 1", `"1"`, "null", "{}", "x",
		"99999999999999999", "18446744073709551617"} {
		if got, ok := ParseID([]byte(token)); ok {
			t.Errorf("%q was read as %d", token, got)
		}
	}
}

// All at once means that each is looked at once: there may be a million.
func TestTakeAllTakesWhatMatchesInOneWalk(t *testing.T) {
	const n = 2*keepPlaces + 2
	var c Pending[int]
	ids := map[int]uint64{}
	for i := range n {
		ids[i], _ = c.Add(i)
	}
	looks := 0
	odd := func(call int) bool { looks++; return call%2 == 1 }
	taken := c.TakeAll(odd)
	if len(taken) != n/2 || c.Len() != n/2 || looks != n {
		t.Fatalf("%d are taken and %d left after %d looks", len(taken), c.Len(), looks)
	}
	for _, one := range taken {
		if _, again := c.Take(one.ID); one.Call%2 == 0 || ids[one.Call] != one.ID || again {
			t.Fatalf("call %d was taken with id %d, which was %d; it can be taken again: %v", one.Call, one.ID, ids[one.Call], again)
		}
	}
	if rest := c.TakeAll(func(int) bool { return true }); len(rest) != n/2 || c.Len() != 0 {
		t.Errorf("%d are taken at last, %d left", len(rest), c.Len())
	}
	if id, ok := c.Add(7); !ok || c.Len() != 1 {
		t.Errorf("the next call: %d, %v", id, ok)
	}
	if none := c.TakeAll(odd); len(none) != 1 || len(c.TakeAll(odd)) != 0 {
		t.Errorf("took %v", none)
	}
}
