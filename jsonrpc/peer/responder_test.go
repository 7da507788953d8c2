package peer

import (
	"slices"
	"strings"
	"testing"

	"toolman/jsonrpc"
)

func tokens(ids ...string) (all [][]byte) {
	for _, id := range ids {
		all = append(all, []byte(id))
	}
	return all
}

// The responses to a batch are sent as one array, whatever is sent in between.
func TestBatchResponderMakesArraysOfResponses(t *testing.T) {
	l := &ledger{}
	g := NewBatchResponder(l)
	send := func(frame string, edits ...jsonrpc.Edit) {
		t.Helper()
		if err := g.Queue([]byte(frame), edits); err != nil {
			t.Fatal(err)
		}
	}
	wants := func(frames ...string) {
		t.Helper()
		if !slices.Equal(l.did, frames) {
			t.Errorf("sent\n%q, want\n%q", l.did, frames)
		}
		l.did = nil
	}
	g.Expect(tokens("1", `"a"`, "null"))
	g.Expect(tokens("2"))
	g.Expect(nil)
	send(`{"jsonrpc":"2.0","method":"m"}`)
	send(`{"jsonrpc":"2.0","id":7,"result":{}}`)
	send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	wants(`{"jsonrpc":"2.0","method":"m"}`, `{"jsonrpc":"2.0","id":7,"result":{}}`, `{"jsonrpc":"2.0","id":1,"method":"m"}`)
	send(`{"jsonrpc":"2.0","id":99,"result":{}}`, jsonrpc.Edit{Span: jsonrpc.Span{Lo: 22, Hi: 24}, New: []byte(`"a"`)})
	send(`{"jsonrpc":"2.0","id":null,"error":{}}`)
	wants()
	send(`{"jsonrpc":"2.0","id":2,"result":{}}`)
	wants(`[{"jsonrpc":"2.0","id":2,"result":{}}]`)
	send(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	wants(`[{"jsonrpc":"2.0","id":"a","result":{}},{"jsonrpc":"2.0","id":null,"error":{}},{"jsonrpc":"2.0","id":1,"result":{}}]`)
	send(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	wants(`{"jsonrpc":"2.0","id":1,"result":{}}`)
}

func TestBatchResponderForgetsRequestsWithoutResponse(t *testing.T) {
	l := &ledger{}
	g := NewBatchResponder(l)
	g.Forget([]byte("1"))
	g.Expect(tokens("1", "2"))
	g.Queue([]byte(`{"jsonrpc":"2.0","id":2,"result":{}}`), nil)
	g.Forget([]byte("1"))
	g.Expect(tokens("3"))
	g.Forget([]byte("3"))
	if want := []string{`[{"jsonrpc":"2.0","id":2,"result":{}}]`, "flush", "flush"}; !slices.Equal(l.did, want) || g.incomplete.Load() != 0 {
		t.Errorf("sent %q, want %q; %d open", l.did, want, g.incomplete.Load())
	}
}

func TestBatchResponderKeepsABoundedAmount(t *testing.T) {
	l := &ledger{}
	g := NewBatchResponder(l)
	g.Expect(tokens("1", "2"))
	large := `{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("x", maxBatchBytes) + `"}`
	g.Queue([]byte(large), nil)
	g.Queue([]byte(`{"jsonrpc":"2.0","id":2,"result":{}}`), nil)
	if want := []string{"[" + large + "]", `[{"jsonrpc":"2.0","id":2,"result":{}}]`}; !slices.Equal(l.did, want) {
		t.Errorf("sent %d frames", len(l.did))
	}
}
