package peer

import (
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"toolman/jsonrpc"
)

func TestPeerDeliversTheLastLineThenTheEnd(t *testing.T) {
	for _, tt := range []struct {
		name, stream string
		want         []string
	}{
		{"nothing", "", nil},
		{"whole lines", note(1) + "\n" + note(2) + "\n", []string{note(1), note(2)}},
		{"a last line without its end", note(1) + "\n" + note(2), []string{note(1), note(2)}},
		{"half a last line", note(1) + "\n{", []string{note(1), "bad: not valid JSON at byte 2: expected a key"}},
		{"blanks", "\n \r\n ", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			overTransports(t, func(t *testing.T, open func(Options) link) {
				l := open(Options{})
				j := newJournal(nil)
				l.Start(j)
				l.say(t, tt.stream)
				l.w.Close()
				if err := j.closed(t); err != io.EOF {
					t.Errorf("the cause is %v, want io.EOF", err)
				}
				if got, want := j.wait(t, 1), append(slices.Clone(tt.want), "closed"); !slices.Equal(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
				go l.Send([]byte("still here")) // the other direction is open
				if got := l.lines(t, 1); got[0] != "still here" {
					t.Errorf("got %q", got)
				}
			})
		})
	}
}

// What the last line causes goes out too.
func TestPeerAnswersTheLastLine(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		l := open(Options{})
		l.Start(newJournal(func(m *jsonrpc.Message, out *Outgoing) { out.Send(l.Peer, m.Frame) }))
		l.say(t, note(1))
		l.w.Close()
		if got := l.lines(t, 1); got[0] != note(1) {
			t.Errorf("got %q", got)
		}
	})
}

func TestPeerThatDoesNotReadEndsAfterItsLastWords(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		const count = 100 // a pipe of Windows holds 4 KiB
		l := open(Options{})
		first, broken := make(chan bool), make(chan bool)
		j := newJournal(func(m *jsonrpc.Message, out *Outgoing) {
			if string(m.Bytes(m.Method)) == `"n0"` {
				close(first)
				<-broken // so that what follows is still in the pipe when writing fails
			}
		})
		l.Start(j)
		go l.say(t, notes(0, 1))
		<-first
		said := l.lastWords(notes(1, count))
		l.r.Close()
		l.fails(t)
		close(broken)
		if err := j.closed(t); err == nil || errors.Is(err, jsonrpc.ErrClosed) {
			t.Errorf("the cause is %v, want why writing failed", err)
		}
		n := 1 + said()
		got := j.wait(t, n+1)
		if len(got) != n+1 {
			t.Fatalf("%d messages came of %d", len(got)-1, n)
		}
		for i := range n {
			if got[i] != note(i) {
				t.Fatalf("message %d is %s", i, got[i])
			}
		}
	})
}

// lastWords writes lines that a pipe holds, and returns a function that ends the stream and returns
// how many of them were written. Nobody has read them yet when lastWords returns. A net.Pipe holds
// nothing: there they are written later, or not at all.
func (l link) lastWords(lines string) func() int {
	said := make(chan int, 1)
	write := func() {
		n, _ := io.WriteString(l.w, lines)
		said <- strings.Count(lines[:n], "\n")
	}
	if _, waits := l.w.(net.Conn); waits {
		go write()
	} else {
		write()
	}
	return func() int {
		l.w.Close()
		return <-said
	}
}

// fails sends until writing has failed.
func (l link) fails(t *testing.T) {
	t.Helper()
	eventually(t, "writing fails", func() bool {
		err := l.Send([]byte("are you there"))
		if err != nil && !errors.Is(err, jsonrpc.ErrClosed) {
			t.Errorf("Send: %v, want ErrClosed", err)
		}
		return err != nil
	})
}

func TestPeerCloseEndsBothWays(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		l := open(Options{})
		j := newJournal(nil)
		l.Start(j)
		l.say(t, note(1)+"\nhalf a line")
		j.wait(t, 1)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(l.Close)
		}
		wg.Wait()
		if err := j.closed(t); !errors.Is(err, jsonrpc.ErrClosed) {
			t.Errorf("the cause is %v, want ErrClosed", err)
		}
		if got := j.wait(t, 2); !slices.Equal(got, []string{note(1), "closed"}) {
			t.Errorf("got %q", got)
		}
		if err := l.Send([]byte("late")); !errors.Is(err, jsonrpc.ErrClosed) {
			t.Errorf("Send: %v, want ErrClosed", err)
		}
		if n, err := l.r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("the far end reads %d bytes, %v, want the end", n, err)
		}
		eventually(t, "the far end cannot write", func() bool { _, err := io.WriteString(l.w, "x\n"); return err != nil })
		l.Close()
		l.CloseWrite()
		l.Flush()
	})
}

func TestPeerCloseThrowsAwayWhatWaits(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		l := open(Options{})
		j := newJournal(nil)
		l.Start(j)
		for range 100 {
			if err := l.Send(make([]byte, 100_000)); err != nil {
				t.Fatal(err)
			}
		}
		l.Close()
		if err := j.closed(t); !errors.Is(err, jsonrpc.ErrClosed) {
			t.Errorf("the cause is %v", err)
		}
		if n, _ := io.Copy(io.Discard, l.r); n > 2<<20 {
			t.Errorf("%d bytes came though the peer was closed", n)
		}
	})
}

func TestPeerCanBeClosedFromItsHandler(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		l := open(Options{})
		j := newJournal(func(*jsonrpc.Message, *Outgoing) { l.Close() })
		l.Start(j)
		l.say(t, note(1)+"\n")
		if err := j.closed(t); !errors.Is(err, jsonrpc.ErrClosed) {
			t.Errorf("the cause is %v, want ErrClosed", err)
		}
	})
}

// closer is a journal that closes its peer at the end, as an owner would.
type closer struct {
	*journal
	peer *Peer
}

func (c closer) Closed(err error) {
	c.peer.Close()
	c.journal.Closed(err)
}

func TestPeerCanBeClosedFromClosed(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		l := open(Options{})
		c := closer{newJournal(nil), l.Peer}
		l.Start(c)
		l.w.Close()
		if err := c.closed(t); err != io.EOF {
			t.Errorf("the cause is %v, want io.EOF", err)
		}
		if n, err := l.r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("the far end reads %d bytes, %v, want the end", n, err)
		}
	})
}

func TestPeerCanBeClosedBeforeItReads(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		l := open(Options{})
		l.Close()
		if n, err := l.r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("the far end reads %d bytes, %v, want the end", n, err)
		}
		if err := l.Send([]byte("late")); !errors.Is(err, jsonrpc.ErrClosed) {
			t.Errorf("Send: %v, want ErrClosed", err)
		}
		j := newJournal(nil)
		l.Start(j)
		if err := j.closed(t); !errors.Is(err, jsonrpc.ErrClosed) {
			t.Errorf("started after all, the cause is %v", err)
		}
	})
}

// A far end that is gone before reading begins is reported when it does.
func TestPeerBrokenBeforeItReads(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		l := open(Options{})
		l.r.Close()
		l.Send([]byte("are you there"))
		time.Sleep(2 * lingerTimeout)
		j := newJournal(nil)
		l.Start(j)
		if err := j.closed(t); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("the cause is %v, want why writing failed", err)
		}
	})
}

// Close races with messages, sends and the far end's own close.
func TestPeerEndsOnceHoweverManyEndIt(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		for range 100 {
			l := open(Options{})
			j := newJournal(func(m *jsonrpc.Message, out *Outgoing) { out.Send(l.Peer, m.Frame) })
			l.Start(j)
			var wg sync.WaitGroup
			wg.Go(func() { io.WriteString(l.w, notes(0, 100)); l.w.Close() })
			wg.Go(func() { io.CopyN(io.Discard, l.r, 100); l.r.Close() })
			wg.Go(func() {
				for l.Send([]byte(note(1))) == nil {
				}
			})
			wg.Go(func() { l.CloseWrite() })
			wg.Go(func() { l.Close() })
			wg.Wait()
			j.closed(t)
		}
	})
}
