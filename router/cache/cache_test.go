package cache

import (
	"testing"
	"testing/synctest"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// begin begins a call of a tool that only reads.
func begin(t *testing.T, r *Results, params string) (*Call, []byte) {
	t.Helper()
	var m jsonrpc.Message
	if err := jsonrpc.Scan([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+params+`}`), &m); err != nil {
		t.Fatal(err)
	}
	return r.Begin(Request{Message: &m, Method: mcpwire.ToolsCall, Tool: "get", ReadOnly: true})
}

func answer(t *testing.T, c *Call, text string) {
	t.Helper()
	var m jsonrpc.Message
	if err := jsonrpc.Scan([]byte(`{"jsonrpc":"2.0","id":1,"result":{"text":"`+text+`"}}`), &m); err != nil {
		t.Fatal(err)
	}
	c.Answered(&m)
	for i := range m.Frame {
		m.Frame[i] = '#' // as a reader does
	}
}

func rules(t *testing.T) []Rule {
	t.Helper()
	rule, err := NewRule("*", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return []Rule{rule}
}

func TestResultsOfEachConnection(t *testing.T) {
	s := NewStore()
	first, second, other := s.Of("s", rules(t)), s.Of("s", rules(t)), s.Of("other", rules(t))
	for _, r := range []*Results{first, second, other} {
		c, frame := begin(t, r, `{}`)
		if frame != nil {
			t.Fatalf("a connection has the result of another one: %s", frame)
		}
		answer(t, c, "x")
		if _, frame := begin(t, r, `{"_meta":{"progressToken":1}}`); string(frame) != `{"jsonrpc":"2.0","id":1,"result":{"text":"x"}}` {
			t.Errorf("got %s", frame)
		}
	}
	first.Drop()
	if _, frame := begin(t, second, `{}`); frame != nil {
		t.Error("a change over one connection leaves the results of another one")
	}
	if _, frame := begin(t, other, `{}`); frame == nil {
		t.Error("a change at a server drops the results of another one")
	}
	if r := s.Of("s", nil); r != nil {
		t.Error("results are kept without a rule")
	}
	var none *Store
	if r := none.Of("s", rules(t)); r != nil {
		t.Error("results are kept without a store")
	}
	(*Results)(nil).Drop()
	(*Call)(nil).Answered(nil)
	(*Call)(nil).Lost()
}

func TestTasksMakeResultsInvalid(t *testing.T) {
	for _, method := range []mcpwire.Method{mcpwire.TasksGet, mcpwire.TasksResult, mcpwire.TasksCancel} {
		r := NewStore().Of("s", rules(t))
		c, _ := begin(t, r, `{}`)
		answer(t, c, "x")
		task, _ := r.Begin(Request{Method: method})
		c, frame := begin(t, r, `{}`)
		if frame != nil {
			t.Errorf("%s leaves an old result", method)
		}
		answer(t, task, "done")
		answer(t, c, "x")
		if _, frame := begin(t, r, `{}`); frame != nil {
			t.Errorf("%s leaves a result from before its answer", method)
		}
	}
	r := NewStore().Of("s", rules(t))
	c, _ := begin(t, r, `{}`)
	answer(t, c, "x")
	for _, q := range []Request{{Method: mcpwire.ResourcesRead}, {Method: mcpwire.ToolsCall, ReadOnly: true, Task: true}} {
		if c, frame := r.Begin(q); c != nil || frame != nil {
			t.Errorf("%+v: %v, %s", q, c, frame)
		}
	}
	if _, frame := begin(t, r, `{}`); frame == nil {
		t.Error("reading makes results invalid")
	}
}

func TestStoreIsBounded(t *testing.T) {
	s := NewStore()
	name := func(i int) key { return key{byte(i), byte(i >> 8)} }
	for i := range MaxResults + 10 {
		s.get(name(0)) // it stays in use
		s.put(name(i), []byte("x"), time.Minute)
	}
	if s.get(name(0)) == nil || s.get(name(1)) != nil || s.get(name(10)) != nil || s.get(name(11)) == nil || len(s.byKey) != MaxResults || s.bytes != MaxResults {
		t.Errorf("%d results of %d bytes are left", len(s.byKey), s.bytes)
	}
	for i := range 100 {
		s.put(name(i), make([]byte, MaxResult), time.Minute)
		s.put(name(i), make([]byte, MaxResult), time.Minute)
	}
	if s.bytes > MaxBytes || s.latest.Len() != MaxBytes/MaxResult || len(s.byKey) != s.latest.Len() || s.get(name(99)) == nil {
		t.Errorf("%d results of %d bytes are left", len(s.byKey), s.bytes)
	}
}

func TestStoreForgetsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore()
		s.put(key{1}, []byte("xy"), time.Second)
		time.Sleep(time.Second - 1)
		if s.get(key{1}) == nil {
			t.Error("it is forgotten too early")
		}
		time.Sleep(time.Nanosecond)
		if s.get(key{1}) != nil || s.bytes != 0 || s.latest.Len() != 0 {
			t.Error("it is kept for too long")
		}
	})
}

func FuzzKey(f *testing.F) {
	for _, params := range []string{`{}`, `{"name":"x","arguments":{"b":1.0,"a":"\u0041"}}`, `{"_meta":{"progressToken":1,"x":2}}`, `{"arguments":[12345678901234567]}`, `{"a":1,"a":2}`} {
		f.Add([]byte(params))
	}
	r := NewStore().Of("s", []Rule{{For: time.Minute}})
	f.Fuzz(func(t *testing.T, params []byte) {
		var m jsonrpc.Message
		frame := append(append([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`), params...), '}')
		if jsonrpc.Scan(frame, &m) != nil {
			return
		}
		var first, second key
		q := Request{Message: &m, Tool: "t"}
		if ok := first.make(r, 1, &q); ok != second.make(r, 1, &q) || first != second {
			t.Errorf("%s has two keys", params)
		} else if ok && (!second.make(r, 2, &q) || first == second) {
			t.Errorf("%s has one key in two epochs", params)
		}
	})
}
