package peer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolman/jsonrpc"
)

// A ledger is a Sender that writes down what it is told.
type ledger struct {
	full bool
	did  []string
}

func (l *ledger) Queue(frame []byte, edits []jsonrpc.Edit) error {
	if l.full {
		return jsonrpc.ErrQueueFull
	}
	l.did = append(l.did, string(jsonrpc.AppendSplice(nil, frame, edits...)))
	return nil
}

func (l *ledger) Flush() { l.did = append(l.did, "flush") }

func TestOutgoingFlushesEachReceiverOnce(t *testing.T) {
	var out Outgoing
	one, other, idle := &ledger{}, &ledger{}, &ledger{full: true}
	out.Send(one, []byte("a"))
	out.Send(other, []byte("b"))
	out.Send(one, []byte("c"))
	if err := out.Send(idle, []byte("d")); !errors.Is(err, jsonrpc.ErrQueueFull) {
		t.Errorf("got %v, want ErrQueueFull", err)
	}
	out.Flush()
	out.Flush()
	for _, tt := range []struct {
		l    *ledger
		want []string
	}{{one, []string{"a", "c", "flush"}}, {other, []string{"b", "flush"}}, {idle, nil}} {
		if !slices.Equal(tt.l.did, tt.want) {
			t.Errorf("got %q, want %q", tt.l.did, tt.want)
		}
	}
}

func TestOutgoingEditsOneFrameOnly(t *testing.T) {
	var out Outgoing
	to := &ledger{}
	for _, to.full = range []bool{false, true, false} { // edits of a refused frame are gone too
		out.Edit(jsonrpc.Span{Lo: 3, Hi: 4}, []byte("three"))
		out.Edit(jsonrpc.Span{Lo: 0, Hi: 1}, []byte("none"))
		if got := string(out.Preview([]byte("0123"))); got != "none12three" || len(out.Edits()) != 2 {
			t.Errorf("the preview is %q, with %d edits", got, len(out.Edits()))
		}
		out.Pass(to, &jsonrpc.Message{Frame: []byte("0123")})
		out.Pass(to, &jsonrpc.Message{Frame: []byte("as it is")})
	}
	if want := []string{"none12three", "as it is", "none12three", "as it is"}; !slices.Equal(to.did, want) {
		t.Errorf("got %q, want %q", to.did, want)
	}
}

func TestOutgoingCopiesStayUntilTheyArePassed(t *testing.T) {
	var out Outgoing
	id := []byte("17")
	first, second := out.Copy(id), out.Number(1<<53-1)
	copy(id, "xx")
	for range 2 * scratchCap {
		out.Copy(id)
	}
	if string(first) != "17" || string(second) != "9007199254740991" {
		t.Errorf("got %q and %q", first, second)
	}
	out.Pass(&ledger{}, &jsonrpc.Message{Frame: []byte("{}")})
	if out.scratch != nil {
		t.Errorf("%d bytes are kept for ever", cap(out.scratch))
	}
}

// Whatever way the frames of one read take, they arrive in the order in which the handler sent
// them: staged, sent at once, too large to wait, or gathered.
func TestSplicedFramesKeepTheirPlace(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		source, sink := open(Options{}), open(Options{})
		sink.Start(mute{})
		out := NewBatchResponder(sink.Peer)
		large := `{"large":"` + strings.Repeat("x", largeFrame) + `"}`
		const rounds = 40
		source.Start(newJournal(func(m *jsonrpc.Message, b *Outgoing) {
			b.Edit(jsonrpc.Span{Lo: 0, Hi: 1}, []byte(`{"a":1,`))
			b.Pass(out, m)
			b.Send(out, m.Frame)
			b.Pass(out, m)
			b.Pass(out, &jsonrpc.Message{Frame: []byte(large)})
			b.Pass(out, m)
			out.Expect([][]byte{[]byte("7")})
			b.Pass(out, m)
			b.Pass(sink.Peer, m)
			b.Pass(out, &jsonrpc.Message{Frame: jsonrpc.AppendResult(nil, []byte("7"), []byte("{}"))})
			b.Pass(out, m)
		}))
		go source.say(t, notes(0, rounds))
		var want []string
		for n := range rounds {
			f := note(n)
			want = append(want, `{"a":1,`+f[1:], f, f, large, f, f, f, `[`+string(jsonrpc.AppendResult(nil, []byte("7"), []byte("{}")))+`]`, f)
		}
		for i, got := range sink.lines(t, len(want)) {
			if got != want[i] {
				t.Fatalf("line %d is %.80s, want %.80s", i, got, want[i])
			}
		}
	})
}

// A refused frame is not sent, those before it are, and what waits stays within the limit also
// while it waits for the end of the read.
func TestSplicedFramesCountAgainstTheLimit(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		const limit = 1000
		source, sink := open(Options{}), open(Options{QueueLimit: limit})
		sink.Start(mute{})
		accepted := make(chan int, 1)
		source.Start(newJournal(func(m *jsonrpc.Message, out *Outgoing) {
			n := 0
			for ; n < limit; n++ {
				if err := out.Pass(sink.Peer, &jsonrpc.Message{Frame: []byte(note(n))}); err != nil {
					if !errors.Is(err, jsonrpc.ErrQueueFull) {
						t.Errorf("got %v, want ErrQueueFull", err)
					}
					break
				}
			}
			if err := out.Pass(sink.Peer, &jsonrpc.Message{Frame: []byte(note(n))}); !errors.Is(err, jsonrpc.ErrQueueFull) {
				t.Errorf("once more: got %v, want ErrQueueFull", err)
			}
			accepted <- n
		}))
		source.say(t, note(0)+"\n")
		n := <-accepted
		size := len(notes(0, n))
		if next := len(note(n)) + 1; size > limit || size+next <= limit {
			t.Errorf("%d bytes were taken, the limit is %d", size, limit)
		}
		for i, line := range sink.lines(t, n) {
			if line != note(i) {
				t.Fatalf("line %d is %s", i, line)
			}
		}
	})
}

// Frames of several reads and receivers stay apart while a receiver is slow: the memory that they
// waited in is used again.
func TestSplicedFramesSurviveASlowReceiver(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		source, slow, quick := open(Options{}), open(Options{}), open(Options{})
		slow.Start(mute{})
		quick.Start(mute{})
		pad := strings.Repeat("x", 20_000)
		source.Start(newJournal(func(m *jsonrpc.Message, out *Outgoing) {
			out.Pass(slow.Peer, &jsonrpc.Message{Frame: fmt.Appendf(nil, `["slow",%s,"%s"]`, m.Frame, pad)})
			out.Pass(quick.Peer, &jsonrpc.Message{Frame: fmt.Appendf(nil, `["quick",%s]`, m.Frame)})
		}))
		const n = 60
		for i := range n {
			source.say(t, note(i)+"\n")
			if got, want := quick.lines(t, 1)[0], fmt.Sprintf(`["quick",%s]`, note(i)); got != want {
				t.Fatalf("got %s, want %s", got, want)
			}
		}
		for i, got := range slow.lines(t, n) {
			if want := fmt.Sprintf(`["slow",%s,"%s"]`, note(i), pad); got != want {
				t.Fatalf("line %d is %.60s", i, got)
			}
		}
	})
}

func TestSpliceToAClosedPeerIsRefused(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		source, ended, closed := open(Options{}), open(Options{}), open(Options{})
		ended.CloseWrite()
		closed.Close()
		got := make(chan []error, 1)
		source.Start(newJournal(func(m *jsonrpc.Message, out *Outgoing) {
			got <- []error{out.Pass(ended.Peer, m), out.Pass(closed.Peer, m)}
		}))
		source.say(t, note(0)+"\n")
		if errs := <-got; slices.ContainsFunc(errs, func(err error) bool { return !errors.Is(err, jsonrpc.ErrClosed) }) {
			t.Errorf("got %v, want ErrClosed twice", errs)
		}
	})
}

// An Outgoing outside a handler queues at once, so that senders that hold a lock while they send
// keep their order.
func TestSpliceOutsideAHandlerQueuesAtOnce(t *testing.T) {
	to := &ledger{}
	var out Outgoing
	out.Pass(to, &jsonrpc.Message{Frame: []byte("a")})
	if !slices.Equal(to.did, []string{"a"}) {
		t.Errorf("got %q before the flush", to.did)
	}
	overTransports(t, func(t *testing.T, open func(Options) link) {
		l := open(Options{})
		var out Outgoing
		out.Pass(l.Peer, &jsonrpc.Message{Frame: []byte(note(0))})
		if n := len(note(0)) + 1; l.Waiting() != n {
			t.Errorf("%d bytes wait, want %d", l.Waiting(), n)
		}
	})
}

func TestBurstOfSplicedFramesIsNotKept(t *testing.T) {
	r := destination{peer: newPeer(Options{}), staged: make([]byte, stagedCap, 2*stagedCap)}
	r.peer.out.put(1) // so that memory is not swapped
	r.commit()
	if cap(r.staged) > stagedCap || r.peer.Waiting() != stagedCap+1 {
		t.Errorf("%d bytes are kept, %d wait", cap(r.staged), r.peer.Waiting())
	}
}
