package peer

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"toolman/jsonrpc"
)

// A link is a peer and the far end's side of its two streams. What is written to w the peer reads,
// what the peer writes comes out of r.
type link struct {
	*Peer
	w io.WriteCloser
	r io.ReadCloser
}

// A transport makes links. Every test of peers runs over all of them.
type transport struct {
	name string
	open func(t testing.TB, loop *Loop, o Options) link
}

// overTransports runs one test over every transport.
func overTransports(t *testing.T, body func(t *testing.T, open func(Options) link)) {
	for _, tr := range append(portable, ofThisSystem...) {
		t.Run(tr.name, func(t *testing.T) {
			t.Parallel()
			loop := newLoop(t)
			body(t, func(o Options) link {
				l := tr.open(t, loop, o)
				t.Cleanup(func() {
					l.Close()
					l.w.Close()
					l.r.Close()
				})
				return l
			})
		})
	}
}

func newLoop(t testing.TB) *Loop {
	t.Helper()
	loop, err := NewLoop()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(loop.Close)
	return loop
}

var portable = []transport{
	{"loop, os.Pipe", func(t testing.TB, loop *Loop, o Options) link {
		in, w := osPipe(t)
		r, out := osPipe(t)
		return loopLink(t, loop, in, out, w, r, o)
	}},
	{"goroutines, os.Pipe", func(t testing.TB, _ *Loop, o Options) link {
		in, w := osPipe(t)
		r, out := osPipe(t)
		return link{NewStream(in, out, o), w, r}
	}},
	{"goroutines, net.Pipe", func(t testing.TB, _ *Loop, o Options) link {
		in, w := net.Pipe()
		r, out := net.Pipe()
		return link{NewStream(in, out, o), w, r}
	}},
}

func loopLink(t testing.TB, loop *Loop, in, out *os.File, w io.WriteCloser, r io.ReadCloser, o Options) link {
	t.Helper()
	p, err := loop.Peer(in, out, o)
	if err != nil {
		t.Fatal(err)
	}
	return link{p, w, r}
}

func osPipe(t testing.TB) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

// lines reads n lines from the peer, and fails the test when there are fewer.
func (l link) lines(t *testing.T, n int) []string {
	t.Helper()
	got := make([]string, 0, n)
	for r := bufio.NewReader(l.r); len(got) < n; {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("after %d of %d lines: %v", len(got), n, err)
		}
		got = append(got, line[:len(line)-1])
	}
	return got
}

// say writes to the peer.
func (l link) say(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(l.w, text); err != nil {
		t.Error(err)
	}
}

// note makes a small message.
func note(n int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","method":"n%d"}`, n) }

// notes makes many, each on its line.
func notes(from, to int) string {
	var b strings.Builder
	for n := from; n < to; n++ {
		b.WriteString(note(n) + "\n")
	}
	return b.String()
}

// A journal is a Handler that writes down what it gets.
type journal struct {
	onMessage func(m *jsonrpc.Message, out *Outgoing) // may be nil

	mu      sync.Mutex
	entries []string // guarded by mu: messages, "bad: …" and "closed: …"
	causes  []error  // guarded by mu: what Closed got
	changed chan struct{}
}

func newJournal(onMessage func(m *jsonrpc.Message, out *Outgoing)) *journal {
	return &journal{onMessage: onMessage, changed: make(chan struct{}, 1)}
}

func (j *journal) add(entry string, causes ...error) {
	j.mu.Lock()
	j.entries = append(j.entries, entry)
	j.causes = append(j.causes, causes...)
	j.mu.Unlock()
	select {
	case j.changed <- struct{}{}:
	default:
	}
}

func (j *journal) Message(m *jsonrpc.Message, out *Outgoing) {
	if j.onMessage != nil {
		j.onMessage(m, out)
	}
	j.add(string(m.Frame))
}

func (j *journal) Bad(_ *jsonrpc.Message, err error, _ *Outgoing) { j.add("bad: " + err.Error()) }
func (j *journal) Closed(err error)                               { j.add("closed", err) }

// wait returns the entries once there are n of them.
func (j *journal) wait(t *testing.T, n int) []string {
	t.Helper()
	for {
		j.mu.Lock()
		entries := j.entries
		j.mu.Unlock()
		if len(entries) >= n {
			return entries
		}
		select {
		case <-j.changed:
		case <-time.After(patience):
			t.Fatalf("only %d of %d entries came; the last: %q", len(entries), n, entries[max(0, len(entries)-3):])
		}
	}
}

// closed waits for the end, which must come once and last, and returns its cause.
func (j *journal) closed(t *testing.T) error {
	t.Helper()
	for n := 1; ; n++ {
		entries := j.wait(t, n)
		if entries[len(entries)-1] != "closed" {
			n = len(entries)
			continue
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		if len(j.causes) != 1 {
			t.Fatalf("Closed came %d times", len(j.causes))
		}
		return j.causes[0]
	}
}

// patience is how long tests wait for what must come: only a broken build waits it out.
const patience = time.Minute

// eventually waits until what holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not yet: " + what)
		}
	}
}

// rerun runs the calling test alone in a process of its own, with more in its environment, and
// returns what it said.
func rerun(t *testing.T, env string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), env)
	said, err := cmd.CombinedOutput()
	return string(said), err
}
