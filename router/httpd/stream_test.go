package httpd

import (
	"testing"
	"time"
)

// stuck is a stream in which n bytes wait that nobody reads.
func stuck(t *testing.T, e *Endpoint, n int) *stream {
	t.Helper()
	s := e.newStream(0)
	for ; n > 0; n -= 1 << 20 {
		if err := s.put(make([]byte, min(n, 1<<20))); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestWhereManyDoNotReadEachMayKeepLessWaiting(t *testing.T) {
	e := New(nil, Options{})
	var all []*stream
	for range allLimit / streamLimit {
		all = append(all, stuck(t, e, streamLimit-1))
	}
	all = append(all, stuck(t, e, 1<<20))
	hog := all[0]
	if err := hog.put([]byte("x")); err == nil {
		t.Error("one with much waiting gets more")
	}
	modest := e.newStream(0)
	for range 3 {
		if err := modest.put(make([]byte, fairLimit/3)); err != nil {
			t.Errorf("one with little waiting: %v", err)
		}
	}
	if err := modest.put(make([]byte, fairLimit)); err == nil {
		t.Error("one with its fair share waiting gets more")
	}
	if err := e.newStream(1).answer(make([]byte, 1<<20), 1, 200); err != nil {
		t.Errorf("a large answer by itself: %v", err)
	}
	for _, s := range all {
		s.leave()
	}
	if again := stuck(t, e, streamLimit-1); again.put([]byte("x")) != nil {
		t.Error("when those are gone, more may wait again")
	}
}

func TestWhatIsBeingWrittenStillWaits(t *testing.T) {
	e := New(nil, Options{})
	s := stuck(t, e, streamLimit/2)
	p := s.take()
	if err := s.put(make([]byte, streamLimit/2+1)); err == nil {
		t.Error("more than the limit waits, with what is being written")
	}
	s.wrote(p)
	if got := e.waiting.Load(); got != 0 {
		t.Errorf("%d bytes are left", got)
	}
}

func TestWhatAnEndedSessionHasNotHeardWaitsNoMore(t *testing.T) {
	f := newFront(t, talker(1), Options{KeepAlive: time.Hour})
	for _, listens := range []bool{false, true} {
		c := f.initialize("2025-11-25", "{}")
		c.ask(request{body: legacyCall(`1`, "fs_talk", "{}", "")}).text()
		await(t, "something waits for it", func() bool { return f.e.waiting.Load() > 0 })
		if listens {
			c.listens()
		}
		c.ask(request{method: "DELETE"}).wants(204, "", "")
		await(t, "nothing does", func() bool { return f.e.waiting.Load() == 0 })
	}
}
