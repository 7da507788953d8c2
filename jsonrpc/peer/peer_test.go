package peer

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"toolman/jsonrpc"
)

func TestPeerKeepsTheOrderBothWays(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		const count = 5000
		l := open(Options{})
		j := newJournal(func(m *jsonrpc.Message, out *Outgoing) {
			if err := out.Send(l.Peer, m.Frame); err != nil {
				t.Error(err)
			}
		})
		l.Start(j)
		go func() {
			all := notes(0, count)
			for i := 0; len(all) > 0; i++ { // in pieces that have nothing to do with lines
				n := min(len(all), 1+i*i%5000)
				l.say(t, all[:n])
				all = all[n:]
			}
		}()
		for i, line := range l.lines(t, count) {
			if line != note(i) {
				t.Fatalf("line %d is %s", i, line)
			}
		}
		for i, entry := range j.wait(t, count) {
			if entry != note(i) {
				t.Fatalf("message %d was %s", i, entry)
			}
		}
	})
}

// A read of net.Pipe gives what one write wrote; from a pipe it may give less only if there were
// more writes.
func TestPeerSendsOnInOneWriteWhatCameInOneRead(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		source, sink := open(Options{}), open(Options{})
		sink.Start(newJournal(nil))
		source.Start(newJournal(func(m *jsonrpc.Message, out *Outgoing) {
			out.Edit(m.Method, []byte(`"x"`))
			out.Pass(sink.Peer, m)
		}))
		want := strings.Repeat(`{"jsonrpc":"2.0","method":"x"}`+"\n", 50)
		buf := make([]byte, 64<<10)
		for range 20 {
			source.say(t, notes(0, 50))
			if n, err := sink.r.Read(buf); err != nil || string(buf[:n]) != want {
				t.Fatalf("the first read gave %d bytes, want %d (%v)", n, len(want), err)
			}
		}
	})
}

func TestPeerMovesLargeMessages(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		l := open(Options{})
		l.Start(newJournal(func(m *jsonrpc.Message, out *Outgoing) { out.Send(l.Peer, m.Frame) }))
		var want []string
		for i, n := range []int{1, 100_000, 10, 2 << 20, 70_000, 1 << 20, 1} {
			want = append(want, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":"%s"}`, i, strings.Repeat("x", n)))
		}
		go l.say(t, strings.Join(want, "\r\n")+"\n")
		if !slices.Equal(l.lines(t, len(want)), want) {
			t.Error("a message changed on its way")
		}
	})
}

func TestPeerReportsBadFramesAndGoesOn(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		l := open(Options{FrameLimit: 100})
		j := newJournal(nil)
		l.Start(j)
		go l.say(t, "Listening\n\n[]\n"+note(1)+"\n"+strings.Repeat("x", 300_000)+"\n"+note(2)+"\n")
		want := []string{
			"bad: not valid JSON at byte 1: expected a value",
			"bad: not a JSON-RPC 2.0 message: batches are not supported here, send one message a line",
			note(1),
			"bad: message of 300000 bytes is over the limit of 100",
			note(2),
		}
		if got := j.wait(t, len(want)); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestPeerTakesFramesFromManyGoroutines(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		const senders, each = 16, 300
		l := open(Options{})
		l.Start(newJournal(nil))
		var wg sync.WaitGroup
		for s := range senders {
			wg.Go(func() {
				pad := strings.Repeat("x", s*40)
				var out Outgoing
				for i := range each {
					frame := []byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":"%d%s"}`, i, s, pad))
					var err error
					switch i % 3 {
					case 0:
						err = l.Send(frame)
					case 1:
						err = errors.Join(l.Queue(frame, nil), out.Send(l.Peer, nil))
						out.Flush()
					case 2:
						out.Edit(jsonrpc.Span{Lo: 23, Hi: 23}, nil)
						err = out.Pass(l.Peer, &jsonrpc.Message{Frame: frame})
						out.Flush()
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		next := make([]int, senders)
		for _, line := range l.lines(t, senders*each+senders*each/3) {
			if line == "" { // what case 1 sent after its frame
				continue
			}
			var id, s int
			if _, err := fmt.Sscanf(line, `{"jsonrpc":"2.0","id":%d,"result":"%d`, &id, &s); err != nil || !jsonrpc.Valid([]byte(line)) {
				t.Fatalf("a torn line: %q", line)
			}
			if id != next[s] {
				t.Fatalf("sender %d: frame %d came where %d was due", s, id, next[s])
			}
			next[s]++
		}
		wg.Wait()
		eventually(t, "nothing waits", func() bool { return l.Waiting() == 0 })
	})
}

// What is sent before Start, more than a pipe holds, goes out.
func TestPeerSendsBeforeItReads(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		l := open(Options{})
		large := strings.Repeat("x", 2<<20)
		for _, frame := range []string{"a", large, "b"} {
			if err := l.Send([]byte(frame)); err != nil {
				t.Fatal(err)
			}
		}
		l.Start(newJournal(nil))
		if got := l.lines(t, 3); got[0] != "a" || got[1] != large || got[2] != "b" {
			t.Error("the lines changed on their way")
		}
	})
}

func TestPeerRefusesWhenTheQueueIsFullAndRecovers(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		const limit = 4000
		l := open(Options{QueueLimit: limit})
		l.Start(newJournal(nil))
		sent, refused := 0, 0
		for refused < 10 {
			switch err := l.Send([]byte(note(sent))); {
			case err == nil: // also after a refusal, if a goroutine writes
				sent++
			case !errors.Is(err, jsonrpc.ErrQueueFull):
				t.Fatalf("after %d frames and %d refusals: %v", sent, refused, err)
			default:
				refused++
			}
			if n := l.Waiting(); n > limit {
				t.Fatalf("%d bytes wait, the limit is %d", n, limit)
			}
		}
		for i, line := range l.lines(t, sent) {
			if line != note(i) {
				t.Fatalf("line %d is %s", i, line)
			}
		}
		eventually(t, "the queue is empty", func() bool { return l.Waiting() == 0 })

		large := strings.Repeat("x", 10*limit) // one frame may always go in
		for range 3 {
			eventually(t, "the queue is empty", func() bool { return l.Waiting() == 0 })
			if err := l.Send([]byte(large)); err != nil {
				t.Fatal(err)
			}
			if got := l.lines(t, 1); got[0] != large {
				t.Fatal("the large frame changed on its way")
			}
		}
	})
}

func TestPeerAfterCloseWriteFlushesThenEndsItsSideOnly(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		l := open(Options{})
		j := newJournal(nil)
		l.Start(j)
		large := strings.Repeat("x", 1<<20)
		for _, frame := range []string{large, "last"} {
			if err := l.Send([]byte(frame)); err != nil {
				t.Fatal(err)
			}
		}
		l.CloseWrite()
		l.CloseWrite()
		if err := l.Send([]byte("late")); !errors.Is(err, jsonrpc.ErrClosed) {
			t.Errorf("Send after CloseWrite: %v", err)
		}
		all, err := io.ReadAll(l.r)
		if err != nil || string(all) != large+"\nlast\n" {
			t.Errorf("%d bytes came (%v), want all that was sent", len(all), err)
		}
		l.say(t, note(1)+"\n")
		if got := j.wait(t, 1); got[0] != note(1) {
			t.Errorf("got %q", got)
		}
	})
}

// Queued is enough: nobody has to flush before CloseWrite.
func TestPeerCloseWriteWritesWhatIsQueued(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		l := open(Options{})
		l.Start(newJournal(nil))
		if err := l.Queue([]byte("last"), nil); err != nil {
			t.Fatal(err)
		}
		l.CloseWrite()
		if all, err := io.ReadAll(l.r); string(all) != "last\n" || err != nil {
			t.Errorf("got %q, %v", all, err)
		}
	})
}

// inFlight reports whether a stream peer has nothing left to begin writing.
func (p *Peer) inFlight() bool {
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	w, ok := p.wire.(*streamWire)
	return ok && (!w.due || p.out.lent) // a Flush during a Write makes it due again
}

// Flushing what is empty writes nothing, also while something is being written.
func TestPeerFlushOfNothing(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		l := open(Options{})
		l.Start(newJournal(nil))
		for n := range 200 {
			l.Flush()
			if err := l.Send([]byte(note(n))); err != nil {
				t.Fatal(err)
			}
			eventually(t, "it is being written, or is", func() bool { return l.Waiting() == 0 || l.inFlight() })
			l.Flush()
			buf := make([]byte, 100)
			if got, err := l.r.Read(buf); err != nil || string(buf[:got]) != note(n)+"\n" {
				t.Fatalf("got %q, %v", buf[:got], err)
			}
		}
	})
}

func TestPeerCloseWriteWithNothingQueued(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		l := open(Options{})
		l.Start(newJournal(nil))
		l.CloseWrite()
		if n, err := l.r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("read %d bytes, %v, want the end", n, err)
		}
	})
}

// Send queues a frame and flushes.
func (p *Peer) Send(frame []byte) error {
	err := p.Queue(frame, nil)
	p.Flush()
	return err
}
