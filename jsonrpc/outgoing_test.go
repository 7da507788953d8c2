package jsonrpc

import (
	"errors"
	"slices"
	"testing"
)

// A ledger is a Sender that writes down what it is told.
type ledger struct {
	full bool
	did  []string
}

func (l *ledger) Queue(frame []byte, edits []Edit) error {
	if l.full {
		return ErrQueueFull
	}
	l.did = append(l.did, string(AppendSplice(nil, frame, edits...)))
	return nil
}

func (l *ledger) Flush() { l.did = append(l.did, "flush") }

func TestBatchFlushesEachReceiverOnce(t *testing.T) {
	var b Batch
	one, other, idle := &ledger{}, &ledger{}, &ledger{full: true}
	b.Send(one, []byte("a"))
	b.Send(other, []byte("b"))
	b.Send(one, []byte("c"))
	if err := b.Send(idle, []byte("d")); !errors.Is(err, ErrQueueFull) {
		t.Errorf("got %v, want ErrQueueFull", err)
	}
	b.Flush()
	b.Flush()
	for _, tt := range []struct {
		l    *ledger
		want []string
	}{{one, []string{"a", "c", "flush"}}, {other, []string{"b", "flush"}}, {idle, nil}} {
		if !slices.Equal(tt.l.did, tt.want) {
			t.Errorf("got %q, want %q", tt.l.did, tt.want)
		}
	}
}

func TestBatchEditsOneFrameOnly(t *testing.T) {
	var b Batch
	to := &ledger{}
	for _, to.full = range []bool{false, true, false} { // edits of a refused frame are gone too
		b.Edit(Span{3, 4}, []byte("three"))
		b.Edit(Span{0, 1}, []byte("none"))
		if got := string(b.Preview([]byte("0123"))); got != "none12three" || len(b.Edits()) != 2 {
			t.Errorf("the preview is %q, with %d edits", got, len(b.Edits()))
		}
		b.Pass(to, &Message{Frame: []byte("0123")})
		b.Pass(to, &Message{Frame: []byte("as it is")})
	}
	if want := []string{"none12three", "as it is", "none12three", "as it is"}; !slices.Equal(to.did, want) {
		t.Errorf("got %q, want %q", to.did, want)
	}
}

func TestBatchCopiesStayUntilTheyArePassed(t *testing.T) {
	var b Batch
	id := []byte("17")
	first, second := b.Copy(id), b.Number(1<<53-1)
	copy(id, "xx")
	for range 2 * scratchCap {
		b.Copy(id)
	}
	if string(first) != "17" || string(second) != "9007199254740991" {
		t.Errorf("got %q and %q", first, second)
	}
	b.Pass(&ledger{}, &Message{Frame: []byte("{}")})
	if b.scratch != nil {
		t.Errorf("%d bytes are kept for ever", cap(b.scratch))
	}
}
