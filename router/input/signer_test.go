package input

import (
	"strings"
	"testing"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"

	"toolman/router/budget"
	"toolman/router/catalog"
)

var alice = budget.Principal{Issuer: "https://login.example.com", Subject: "alice"}

func TestAStateIsReadBack(t *testing.T) {
	s := NewSigner("")
	for _, want := range []requestState{{}, {stateRepeat, handle{}, 0}, {stateResume, newHandle(), int64(time.Hour)}, {stateResume, newHandle(), -1}} {
		text := s.signState(want, 7, alice)
		got, ok := s.verifyState([]byte(text), 7, alice)
		if !ok || got != want {
			t.Errorf("got %v %v, want %v", got, ok, want)
		}
		if _, ok := s.verifyState([]byte(text), 7, budget.Principal{Issuer: alice.Issuer, Subject: alice.Subject, Agent: "other"}); ok {
			t.Errorf("%+v is good for another principal", want)
		}
		if _, ok := s.verifyState([]byte(text), 8, alice); ok {
			t.Error("the state is good for another subject")
		}
		if _, ok := NewSigner("").verifyState([]byte(text), 7, alice); ok {
			t.Error("the state is good for another toolman")
		}
	}
}

// Everything that makes a request another one makes its subject another one.
func TestWhatARequestIsAbout(t *testing.T) {
	s := NewSigner("")
	a, b := &catalog.Source{Name: "a"}, &catalog.Source{Name: "b"}
	tool := func(from *catalog.Source, name string) catalog.Target {
		return catalog.Target{Source: from, Entry: &catalog.Entry{Item: mcpwire.Item{Name: name}}}
	}
	seen := map[RequestHash]string{}
	for _, tt := range []struct {
		name, params string
		method       mcpwire.Method
		t            catalog.Target
	}{
		{"a call", `{"arguments":{"x":1}}`, mcpwire.ToolsCall, tool(a, "t")},
		{"other arguments", `{"arguments":{"x":2}}`, mcpwire.ToolsCall, tool(a, "t")},
		{"arguments spelled otherwise", `{"arguments":{"x":1.0}}`, mcpwire.ToolsCall, tool(a, "t")},
		{"no arguments", `{}`, mcpwire.ToolsCall, tool(a, "t")},
		{"arguments that are null", `{"arguments":null}`, mcpwire.ToolsCall, tool(a, "t")},
		{"another method", `{"arguments":{"x":1}}`, mcpwire.PromptsGet, tool(a, "t")},
		{"another server", `{"arguments":{"x":1}}`, mcpwire.ToolsCall, tool(b, "t")},
		{"another name", `{"arguments":{"x":1}}`, mcpwire.ToolsCall, tool(a, "u")},
		{"a name that looks like arguments", `{}`, mcpwire.ToolsCall, tool(a, `t{"x":1}`)},
		{"a URI", `{}`, mcpwire.ResourcesRead, catalog.Target{Source: a, URI: "t"}},
	} {
		frame := `{"jsonrpc":"2.0","id":1,"method":"x","params":` + tt.params + `}`
		about := s.requestHash(message(t, frame), tt.method, tt.t)
		if other, known := seen[about]; known {
			t.Errorf("%s is the same as %s", tt.name, other)
		}
		seen[about] = tt.name
		again := strings.Replace(frame, `"id":1`, `"id":2`, 1)
		again = strings.Replace(again, `"params":{`, `"params":{"_meta":{},`, 1)
		again = strings.Replace(again, ",}", "}", 1)
		if s.requestHash(message(t, again), tt.method, tt.t) != about {
			t.Errorf("%s is another one with another id", tt.name)
		}
	}
}

// FuzzOpenState shows that what was not sealed is not opened, whatever it is.
func FuzzOpenState(f *testing.F) {
	s := NewSigner("")
	sealed := s.signState(requestState{stateResume, handle{1, 2, 3}, 4}, 5, alice)
	for _, seed := range []string{"", "A", sealed, sealed[1:] + "A", sealed[:len(sealed)-1] + "=", sealed[:len(sealed)-1] + "\n", strings.Repeat("A", len(sealed)), strings.Repeat("-", len(sealed)), "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, ok := s.verifyState([]byte(text), 5, alice); ok != (text == sealed) {
			t.Errorf("%q is opened: %v", text, ok)
		}
		mixed := []byte(sealed)
		copy(mixed, text)
		if _, ok := s.verifyState(mixed, 5, alice); ok != (string(mixed) == sealed) {
			t.Errorf("%q is opened: %v", mixed, ok)
		}
	})
}

// message reads a frame.
func message(t *testing.T, frame string) *jsonrpc.Message {
	t.Helper()
	m := new(jsonrpc.Message)
	if err := jsonrpc.Scan([]byte(frame), m); err != nil {
		t.Fatalf("%v: %s", err, frame)
	}
	return m
}

func TestAStateTellsWhichReplicaHasIssuedIt(t *testing.T) {
	const replica = "k3v9x2qd"
	s, alice := NewSigner(replica), budget.Principal{Subject: "alice"}
	text := s.signState(requestState{kind: stateResume, handle: newHandle()}, 7, alice)
	if _, ok := s.verifyState([]byte(text), 7, alice); !ok {
		t.Error("the replica does not know its own state")
	}
	if _, ok := s.verifyState([]byte(text[len(replicaState):]), 7, alice); ok {
		t.Error("a state without its beginning is valid")
	}
	for state, want := range map[string]string{
		`"` + text + `"`: replica, `"tm1.` + replica + `"`: "", `"other.` + replica + `.x"`: "", `"` + NewSigner("").signState(requestState{}, 7, alice) + `"`: "",
		`7`: "", `null`: "",
	} {
		var m jsonrpc.Message
		if err := jsonrpc.Scan([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"requestState":`+state+`}}`), &m); err != nil {
			t.Fatal(err)
		}
		if got := StateReplica(&m); got != want {
			t.Errorf("%s: got %q", state, got)
		}
	}
}
