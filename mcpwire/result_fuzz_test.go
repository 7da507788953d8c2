package mcpwire

import (
	"slices"
	"testing"

	"toolman/jsonrpc"
)

// otherMembers lists what an object holds beside the keys.
func otherMembers(frame []byte, obj jsonrpc.Span, keys ...string) (list []string) {
	for k, v := range jsonrpc.Members(frame, obj) {
		if !slices.Contains(keys, k) {
			list = append(list, k+"="+string(frame[v.Lo:v.Hi]))
		}
	}
	return list
}

// FuzzResult takes results to the other era and checks that they say there what they must and that
// nothing else in them changes.
func FuzzResult(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{ }`, `{"resultType":"complete"}`, `{ "content" : [ ] , "resultType" : "task" }`, `{"ttlMs":1,"cacheScope":"public","_meta":{}}`,
		`{"_meta":{"io.modelcontextprotocol/serverInfo":{}},"a":1}`, `{"_meta":{"a":1,"io.modelcontextprotocol\/serverInfo":0},"structuredContent":[ 1 ]}`,
		`{"structuredContent":null,"resultType":null,"ttlMs":null,"cacheScope":null}`, `{"a":1,"a":2,"":[],"result\u0054ype":"x"}`, `[]`,
	} {
		f.Add([]byte(seed), true, false)
		f.Add([]byte(seed), false, true)
	}
	f.Fuzz(func(t *testing.T, result []byte, reads, wrapped bool) {
		var m jsonrpc.Message
		if jsonrpc.Scan([]byte(`{"jsonrpc":"2.0","id":1,"result":`+string(result)+`}`), &m) != nil {
			return
		}
		r, err := ResultOf(&m)
		if err != nil {
			return
		}
		method, changed := ToolsCall, []string{"resultType", "_meta", "structuredContent"}
		if reads {
			method, changed = ResourcesRead, append(changed, "ttlMs", "cacheScope")
		}
		want := otherMembers(m.Frame, m.Result, changed...)
		modern := rescan(t, spliced(t, &m, r.ToModern(nil, &m, method)))
		checkModern(t, modern, method)
		legacyEdits, err := r.ToLegacy(nil, &m, method, wrapped)
		if err != nil {
			return
		}
		legacy := rescan(t, spliced(t, &m, legacyEdits))
		checkLegacy(t, legacy, reads)
		for _, m := range []*jsonrpc.Message{modern, legacy} {
			if got := otherMembers(m.Frame, m.Result, changed...); !slices.Equal(got, want) {
				t.Errorf("%s: %q became %q", result, want, got)
			}
		}
	})
}

func checkModern(t *testing.T, m *jsonrpc.Message, method Method) {
	t.Helper()
	r := resultOf(t, m)
	if !r.Type.Present() || r.ResultType(m) != ResultComplete {
		t.Errorf("not complete: %s", m.Frame)
	}
	if cacheable(method) && (!isTTL(m, r.TTL.Value) || !isScope(m, r.Scope.Value)) {
		t.Errorf("may it be kept? %s", m.Frame)
	}
}

func checkLegacy(t *testing.T, m *jsonrpc.Message, reads bool) {
	t.Helper()
	r := resultOf(t, m)
	if r.Type.Present() || reads && (r.TTL.Present() || r.Scope.Present()) {
		t.Errorf("still modern: %s", m.Frame)
	}
	if r.Structured.Present() && !m.IsObject(r.Structured.Value) {
		t.Errorf("structured content that is no object: %s", m.Frame)
	}
	if info, err := m.Get(r.Meta.Value, KeyServerInfo); err != nil || info.Present() {
		t.Errorf("the server is still there: %s, %v", m.Frame, err)
	}
}

func rescan(t testing.TB, frame string) *jsonrpc.Message {
	t.Helper()
	var m jsonrpc.Message
	if err := jsonrpc.Scan([]byte(frame), &m); err != nil {
		t.Fatalf("%s: %v", frame, err)
	}
	return &m
}
