package peer

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"toolman/jsonrpc"
)

// mute is a Handler for a far end that says nothing.
type mute struct{}

func (mute) Message(*jsonrpc.Message, *Outgoing)    {}
func (mute) Bad(*jsonrpc.Message, error, *Outgoing) {}
func (mute) Closed(error)                           {}

// Large frames go out from where they lie, and no pipe takes one as a whole: whatever stands
// before, in and behind them, the far end reads it in order. The frame's memory is the sender's
// again when Queue returns.
func TestLargeFramesKeepTheirPlace(t *testing.T) {
	overTransports(t, func(t *testing.T, open func(Options) link) {
		l := open(Options{})
		l.Start(mute{})
		var want bytes.Buffer
		large := []byte(`{"id":0,"name":"old","text":"` + strings.Repeat("large ", 300_000) + `"}`)
		for i := range 12 {
			small := fmt.Sprintf(`{"small":%d}`, i)
			if err := l.Queue([]byte(small), nil); err != nil {
				t.Fatal(err)
			}
			frame := bytes.Clone(large)
			edits := []jsonrpc.Edit{{Span: jsonrpc.Span{Lo: 16, Hi: 19}, New: []byte("ns_new")}, {Span: jsonrpc.Span{Lo: 6, Hi: 7}, New: fmt.Append(nil, i)}}
			if err := l.Queue(frame, edits); err != nil {
				t.Fatal(err)
			}
			clear(frame)
			fmt.Fprintf(&want, "%s\n%s\n", small, jsonrpc.AppendSplice(nil, large, edits...))
			if i%5 == 0 {
				l.Flush()
			}
			if i == 5 { // the pipe has been empty in between
				readAs(t, l.r, want.Next(want.Len()))
			}
		}
		l.Flush()
		readAs(t, l.r, want.Bytes())
	})
}

// readAs reads as much as want and compares.
func readAs(t *testing.T, r io.Reader, want []byte) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(r, got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		at := 0
		for got[at] == want[at] {
			at++
		}
		t.Fatalf("byte %d of %d: got %q, want %q", at, len(want), got[at:min(at+40, len(got))], want[at:min(at+40, len(want))])
	}
}
