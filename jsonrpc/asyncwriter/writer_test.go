package asyncwriter

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// An output takes nothing before stuck is closed, and a part of what it gets while it is broken.
type output struct {
	mu     sync.Mutex
	stuck  chan struct{} // may be nil
	broken int           // bytes to take, and then an error; less than 0: all
	bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	if o.stuck != nil {
		<-o.stuck
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.broken >= 0 {
		n, _ := o.Buffer.Write(p[:min(o.broken, len(p))])
		o.broken = 0
		return n, errors.New("disk full")
	}
	return o.Buffer.Write(p)
}

func (o *output) breakAfter(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.broken = n
}

// options are those of a Writer of words with their numbers.
func options(report bool) Options[string] {
	return Options[string]{Name: "test", Limit: 3, Report: report, Append: func(dst []byte, e *Entry[string]) []byte {
		if e.Lost > 0 {
			dst = fmt.Appendf(dst, "lost %d before %d\n", e.Lost, e.Seq)
		}
		if !e.Empty {
			dst = fmt.Appendf(dst, "%d %s\n", e.Seq, e.Item)
		}
		return dst
	}}
}

func TestAStuckOutputLosesLinesAndReportsThem(t *testing.T) {
	for _, tt := range []struct {
		report bool
		want   string
	}{
		{true, "0 a\n1 b\n2 c\nlost 4 before 7\n8 x\n"},
		{false, "0 a\n1 b\n2 c\nlost 4 before 8\n8 x\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			out := &output{broken: -1, stuck: make(chan struct{})}
			w := New(out, options(tt.report))
			for _, word := range strings.Split("abcdefg", "") {
				if room := w.Put(word, 1); room != (word < "d") {
					t.Errorf("%s: %v", word, room)
				}
				synctest.Wait() // from the first on, the Writer is stuck with it
			}
			close(out.stuck)
			time.Sleep(time.Second)
			if !w.Put("x", 1) {
				t.Error("no room when all is written")
			}
			if err := w.Close(time.Second); err != nil || w.Put("y", 1) {
				t.Errorf("closed with %v, and takes items", err)
			}
			if got := out.String(); got != tt.want {
				t.Errorf("report %v: got %q, want %q", tt.report, got, tt.want)
			}
		})
	}
}

func TestCloseIsBoundedAndReportsWhatIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &output{broken: -1, stuck: make(chan struct{})}
		w := New(out, options(false))
		for _, word := range strings.Split("abcd", "") {
			w.Put(word, 1)
		}
		if err := w.Close(time.Second); err == nil || err.Error() != "test: the output took no more lines for 1s; its end is missing" {
			t.Errorf("got %v", err)
		}
		close(out.stuck)
		if err := w.Close(time.Second); err != nil {
			t.Error(err)
		}
		if got, want := out.String(), "0 a\n1 b\n2 c\nlost 1 before 4\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestABrokenOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &output{broken: -1}
		var warnings []string
		o := options(true)
		o.Warn = func(err error) { warnings = append(warnings, err.Error()) }
		w := New(out, o)
		put := func(word string) {
			w.Put(word, 1)
			time.Sleep(time.Second)
		}
		put("a")
		out.breakAfter(2)
		put("torn")
		put("b")
		out.breakAfter(-1)
		put("c")
		if err := w.Close(time.Second); err != nil {
			t.Error(err)
		}
		if got, want := out.String(), "0 a\n1 \nlost 2 before 5\n5 c\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if len(warnings) != 1 || !strings.HasPrefix(warnings[0], "test: disk full (") {
			t.Errorf("warnings: %q", warnings)
		}
	})
	w := New(new(output), options(true))
	w.Put("a", 1)
	if err := w.Close(time.Minute); err == nil || err.Error() != "test: its end is missing: disk full" {
		t.Errorf("closed with %v", err)
	}
}

func TestText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &output{broken: -1, stuck: make(chan struct{})}
		w := NewText(out, 10, func(lost uint64) string { return fmt.Sprintf("%d lost\n", lost) })
		line := []byte("first\n")
		for range 3 {
			if n, err := w.Write(line); n != len(line) || err != nil {
				t.Errorf("wrote %d, %v", n, err)
			}
			copy(line, "XXXXX")
			synctest.Wait() // the Writer is stuck with the first
		}
		close(out.stuck)
		time.Sleep(time.Second)
		w.Write([]byte("last\n"))
		w.Close(time.Second)
		if got, want := out.String(), "first\n2 lost\nlast\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestManyCallers(t *testing.T) {
	out := &output{broken: -1}
	o := options(true)
	o.Limit = 50
	w := New(out, o)
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for range 500 {
				w.Put("x", 1)
			}
		})
	}
	callers.Wait()
	if err := w.Close(time.Minute); err != nil {
		t.Fatal(err)
	}
	lines, lost, next := 0, 0, 0
	for line := range strings.Lines(out.String()) {
		var n, seq int
		if _, err := fmt.Sscanf(line, "lost %d before %d", &n, &seq); err == nil {
			lost += n
			continue
		}
		if _, err := fmt.Sscanf(line, "%d x", &seq); err != nil || seq < next {
			t.Fatalf("%q after %d: %v", line, next, err)
		}
		lines, next = lines+1, seq+1
	}
	if lines+lost != 8*500 {
		t.Errorf("%d lines and %d lost", lines, lost)
	}
}

func TestNilWriter(t *testing.T) {
	var w *Writer[string]
	if w.Put("a", 1) || w.Close(0) != nil {
		t.Error("a nil Writer takes items")
	}
}
