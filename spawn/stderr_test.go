//go:build unix

package spawn

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"toolman/spawn/internal/tail"
)

func TestStderrLines(t *testing.T) {
	var got []string
	p := runCommand(t, nil, Command{
		Argv:   []string{"sh", "-c", `printf 'one\r\n\n  two\033[31m red\033[0m\a\nunfinished' >&2; exit 1`},
		Env:    os.Environ(),
		Stderr: func(line string) { got = append(got, line) },
	})
	waitFor(t, "exit", p.Done())
	p.KillGroup()
	waitFor(t, "the end", p.ended) // after which nobody calls Stderr
	want := []string{"one", "  two red", "unfinished"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := p.StderrTail(), strings.Join(want, "\n"); got != want {
		t.Errorf("tail: got %q, want %q", got, want)
	}
}

func TestTailHoldsTheLastWordsAsSoonAsTheChildHasExited(t *testing.T) {
	for i := range 50 {
		p := run(t, nil, "sh", "-c", "echo goodbye >&2; exit 1")
		waitFor(t, "exit", p.Done())
		if got := p.StderrTail(); got != "goodbye" {
			t.Fatalf("run %d: got %q, want %q", i, got, "goodbye")
		}
	}
}

// However late the goroutine is that reads, what a child has written is in its tail when it has
// exited, and all of it is read before the end.
func TestLastWordsDoNotDependOnTheReader(t *testing.T) {
	r, w, err := newPolledPipe("stderr")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() // another process may have it
	s := &stderr{file: r, eof: make(chan struct{})}
	var lines []string
	s.tail = tail.New(func(line []byte) { lines = append(lines, string(line)) })
	p := &Process{exited: make(chan struct{}), stderr: s}
	close(p.exited)
	fmt.Fprintln(w, "goodbye")
	if got := p.StderrTail(); got != "goodbye" {
		t.Errorf("got %q, want %q", got, "goodbye")
	}
	for n := range 1000 { // more than one read takes
		fmt.Fprintln(w, "line", n)
	}
	r.SetReadDeadline(time.Now().Add(-time.Second))
	s.drain()
	if len(lines) != 1001 || lines[1000] != "line 999" {
		t.Errorf("%d lines came, want 1001", len(lines))
	}
	if got := p.StderrTail(); !strings.HasSuffix(got, "line 999") {
		t.Errorf("the tail is %q", got)
	}
}

func TestTailHoldsAnUnfinishedLine(t *testing.T) {
	p := run(t, nil, "sh", "-c", "printf 'Password: ' >&2; exec cat")
	eventually(t, "the prompt is there", func() bool { return p.StderrTail() == "Password:" })
}

func TestFloodMeetsASlowReader(t *testing.T) {
	const lines = 300_000
	gate := make(chan struct{})
	seen, dropped := 0, 0
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p := runCommand(t, nil, Command{
		Argv: script("flood", fmt.Sprint(lines)),
		Env:  os.Environ(),
		Stderr: func(line string) {
			<-gate
			var n int
			if _, err := fmt.Sscanf(line, "… %d lines dropped", &n); err == nil {
				dropped += n
			} else {
				seen++
			}
		},
	})
	waitFor(t, "a child whose every line waits", p.Done())
	p.KillGroup()
	waitFor(t, "the end of reading", p.stderr.eof)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 4*queueBytes {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
	close(gate)
	waitFor(t, "the end", p.ended)
	if seen+dropped != lines || dropped == 0 || seen == 0 {
		t.Errorf("got %d lines and %d dropped, want %d in all, some of either", seen, dropped, lines)
	}
	if got, want := p.StderrTail(), fmt.Sprintf("line %d of a child that talks a lot", lines-1); !strings.HasSuffix(got, want) {
		t.Errorf("the tail does not end with the last line: %q", got)
	}
}

func TestStopDoesNotWaitForAStderrThatIsStuck(t *testing.T) {
	gate := make(chan struct{})
	p := runCommand(t, nil, Command{
		Argv:   script("complain", "hello", "print", "up", "hang"),
		Env:    os.Environ(),
		Stderr: func(string) { <-gate },
	})
	readLine(t, p)
	start := time.Now()
	p.Stop(closer(p), brief) // the test's own time limit if it waits
	if !p.hasExited() && time.Since(start) < killWait {
		t.Error("Stop came back before the child was gone")
	}
	waitFor(t, "exit", p.Done())
	close(gate)
	waitFor(t, "the end", p.ended)
}
