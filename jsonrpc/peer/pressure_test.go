package peer

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"toolman/jsonrpc"
)

// pump links a source to a sink with Pressure and returns them with the journal of the source.
func pump(open func(Options) link, queue int, onMessage func(sink *Peer)) (source, sink link, j *journal) {
	source, sink = open(Options{}), open(Options{QueueLimit: queue, Pressure: true})
	sink.Start(newJournal(nil))
	j = newJournal(func(m *jsonrpc.Message, out *Outgoing) {
		out.Send(sink.Peer, m.Frame)
		if onMessage != nil {
			onMessage(sink.Peer)
		}
	})
	source.Start(j)
	return source, sink, j
}

func (p *Peer) holds() int {
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	return len(p.out.paused)
}

// A sink that reads always, but never fast enough to empty its queue, costs a bounded amount of
// memory, and loses nothing.
func TestPeerUnderPressureLosesNothingAndStaysSmall(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		const limit, count = 256 << 10, 12_000
		pad := strings.Repeat("x", 1000)
		message := func(n int) string { return note(n)[:len(note(n))-1] + `,"x":"` + pad + `"}` }
		waiting, memory, paused := 0, 0, 0
		source, sink, _ := pump(open, limit, func(sink *Peer) {
			sink.out.mu.Lock()
			defer sink.out.mu.Unlock()
			waiting, memory = max(waiting, sink.out.waiting()), max(memory, cap(sink.out.buf))
		})
		go func() {
			var b strings.Builder
			for n := range count {
				b.WriteString(message(n) + "\n")
				if b.Len() > 30_000 || n == count-1 {
					source.say(t, b.String())
					b.Reset()
				}
			}
		}()
		r := bufio.NewReader(sink.r)
		for n := range count {
			if n%1500 == 0 { // the source comes to a stand again and again
				eventually(t, "the source is held", func() bool { return sink.holds() > 0 || n > count-3000 })
				paused++
			}
			line, err := r.ReadString('\n')
			if err != nil || line != message(n)+"\n" {
				t.Fatalf("line %d: %.60q, %v", n, line, err)
			}
		}
		sink.Waiting()                 // takes the lock, after which the two counts are ours
		const read = 4*readSize + 2000 // what one read may bring on top
		if waiting > limit+read {
			t.Errorf("%d bytes waited, the limit is %d", waiting, limit)
		}
		if memory > 4*(limit+read) {
			t.Errorf("the queue grew to %d bytes, the limit is %d", memory, limit)
		}
		if waiting <= limit || paused < 3 {
			t.Errorf("%d bytes waited at most: the test has not shown anything", waiting)
		}
	})
}

// Whoever waits for a sink that goes away is not left waiting.
func TestPeerUnderPressureIsReleasedWhenTheSinkEnds(t *testing.T) {
	for _, how := range []struct {
		name string
		end  func(link)
	}{
		{"closed by us", func(sink link) { sink.Close() }},
		{"closed by the far end", func(sink link) { sink.r.Close() }},
	} {
		t.Run(how.name, func(t *testing.T) {
			overTransports(t, func(t *testing.T, open func(Options) link) {
				const count = 20_000
				source, sink, j := pump(open, 10_000, nil)
				go source.say(t, notes(0, count))
				eventually(t, "the source is held", func() bool { return sink.holds() > 0 })
				how.end(sink)
				if got := j.wait(t, count)[count-1]; got != note(count-1) {
					t.Errorf("the last message is %q", got)
				}
			})
		})
	}
}

func TestPeerUnderPressureCanBeClosed(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		source, sink, j := pump(open, 10_000, nil)
		if err := sink.Send(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
		source.say(t, note(1)+"\n")
		eventually(t, "the source is held", func() bool { return sink.holds() > 0 })
		source.Close()
		if err := j.closed(t); !errors.Is(err, jsonrpc.ErrClosed) {
			t.Errorf("the cause is %v, want ErrClosed", err)
		}
	})
}

// A broken peer that has nothing more to say ends when it may read again.
func TestPeerUnderPressureEndsWhenItIsBroken(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		source, sink, j := pump(open, 10_000, nil)
		if err := sink.Send(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
		source.say(t, note(1)+"\n")
		eventually(t, "the source is held", func() bool { return sink.holds() > 0 })
		source.r.Close()
		source.fails(t)
		time.Sleep(2 * lingerTimeout)
		sink.lines(t, 2)
		if err := j.closed(t); err == nil || errors.Is(err, jsonrpc.ErrClosed) {
			t.Errorf("the cause is %v, want why writing failed", err)
		}
	})
}

// A far end that does not take what is sent to it any more has still said something, which waits
// for a sink that is full.
func TestPeerUnderPressureStillSaysWhatABrokenOneSaid(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		source, sink, j := pump(open, 10_000, nil)
		full := make([]byte, 1<<20)
		if err := sink.Send(full); err != nil {
			t.Fatal(err)
		}
		source.say(t, note(0)+"\n")
		eventually(t, "the source is held", func() bool { return sink.holds() > 0 })
		said := source.lastWords(notes(1, 100)) // a pipe of Windows holds 4 KiB
		source.r.Close()
		source.fails(t)
		time.Sleep(2 * lingerTimeout) // being held is not being silent
		came := make(chan []byte)
		go func() {
			all, _ := io.ReadAll(sink.r)
			came <- all
		}()
		if err := j.closed(t); err == nil {
			t.Error("closed without a cause")
		}
		want := notes(0, 1+said())
		sink.CloseWrite()
		if got := string((<-came)[len(full)+1:]); got != want {
			t.Errorf("%d bytes came, want %d, or they have changed", len(got), len(want))
		}
	})
}
