package inputreq

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// The helpers of the tests of mcpwire.

func rescan(t testing.TB, frame string) *jsonrpc.Message {
	t.Helper()
	var m jsonrpc.Message
	if err := jsonrpc.Scan([]byte(frame), &m); err != nil {
		t.Fatalf("%s: %v", frame, err)
	}
	return &m
}

func resultOf(t testing.TB, m *jsonrpc.Message) mcpwire.Result {
	t.Helper()
	r, err := mcpwire.ResultOf(m)
	if err != nil {
		t.Fatalf("%s: %v", m.Frame, err)
	}
	return r
}

// otherMembers lists what an object holds beside the keys.
func otherMembers(frame []byte, obj jsonrpc.Span, keys ...string) (list []string) {
	for k, v := range jsonrpc.Members(frame, obj) {
		if !slices.Contains(keys, k) {
			list = append(list, k+"="+string(frame[v.Lo:v.Hi]))
		}
	}
	return list
}

// lastWins reads a member as most parsers do: the exact key, the last time.
func lastWins(object json.RawMessage, path ...string) json.RawMessage {
	for _, key := range path {
		var all map[string]json.RawMessage
		if json.Unmarshal(object, &all) != nil {
			return nil
		}
		object = all[key]
	}
	return object
}

// request scans a request of method with params, which may be empty.
func request(t *testing.T, method mcpwire.Method, params string) *jsonrpc.Message {
	t.Helper()
	if params != "" {
		params = `,"params":` + params
	}
	var m jsonrpc.Message
	frame := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q%s}`, method, params)
	if err := jsonrpc.Scan([]byte(frame), &m); err != nil {
		t.Fatalf("%s: %v", frame, err)
	}
	return &m
}

// checkSpan compares what was found, which is "" for nothing.
func checkSpan(t *testing.T, m *jsonrpc.Message, at jsonrpc.Span, err error, want string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if got := string(m.Bytes(at)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// response scans a response with a result.
func response(t testing.TB, result string) *jsonrpc.Message {
	t.Helper()
	var m jsonrpc.Message
	if err := jsonrpc.Scan([]byte(`{"jsonrpc":"2.0","id":1,"result":`+result+`}`), &m); err != nil {
		t.Fatalf("%s: %v", result, err)
	}
	return &m
}

func envelope(t testing.TB, m *jsonrpc.Message) mcpwire.Envelope {
	t.Helper()
	e, err := envelopeOf(m)
	if err != nil {
		t.Fatalf("%s: %v", m.Frame, err)
	}
	return e
}

// spliced applies edits to a message and checks that it still is one.
func spliced(t testing.TB, m *jsonrpc.Message, edits []jsonrpc.Edit) string {
	t.Helper()
	after := jsonrpc.AppendSplice(nil, m.Frame, edits...)
	var n jsonrpc.Message
	if err := jsonrpc.Scan(after, &n); err != nil {
		t.Fatalf("%s became %s: %v", m.Frame, after, err)
	}
	return string(after)
}

const bareClaim = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`

func envelopeOf(m *jsonrpc.Message) (e mcpwire.Envelope, err error) {
	err = e.Read(m)
	return e, err
}
