package mcpwire

import (
	"strings"
	"testing"

	"toolman/jsonrpc"
)

// response scans a response with a result.
func response(t testing.TB, result string) *jsonrpc.Message {
	t.Helper()
	var m jsonrpc.Message
	if err := jsonrpc.Scan([]byte(`{"jsonrpc":"2.0","id":1,"result":`+result+`}`), &m); err != nil {
		t.Fatalf("%s: %v", result, err)
	}
	return &m
}

func resultOf(t testing.TB, m *jsonrpc.Message) Result {
	t.Helper()
	r, err := ResultOf(m)
	if err != nil {
		t.Fatalf("%s: %v", m.Frame, err)
	}
	return r
}

// reply is a response as the other side gets it, under another id.
func reply(result string) string { return `{"jsonrpc":"2.0","id":"theirs","result":` + result + `}` }

func idEdit(m *jsonrpc.Message) []jsonrpc.Edit {
	return []jsonrpc.Edit{{Span: m.ID, New: []byte(`"theirs"`)}}
}

func TestResultType(t *testing.T) {
	for result, want := range map[string]ResultType{
		`{}`: ResultComplete, `{"resultType":"complete"}`: ResultComplete, `{"resultType":"input_required"}`: ResultInputRequired,
		`{"resultTyp\u0065":"t\u0061sk"}`: ResultTask, `{"resultType":"later"}`: ResultOther, `{"resultType":null}`: ResultOther,
		`{"resultType":"Complete"}`: ResultOther, `{"content":[{"resultType":"task"}]}`: ResultComplete,
	} {
		m := response(t, result)
		r := resultOf(t, m)
		if got := r.ResultType(m); got != want {
			t.Errorf("%s: got %d, want %d", result, got, want)
		}
	}
}

func TestResultOfRefusesWhatCanBeReadTwoWays(t *testing.T) {
	for _, result := range []string{
		`{"resultType":"complete","resultType":"task"}`, `{"ResultType":"task"}`, `{"requestState":"a","request\u0053tate":"b"}`, `[]`, `null`, `"x"`,
	} {
		if r, err := ResultOf(response(t, result)); err == nil {
			t.Errorf("%s was accepted: %+v", result, r)
		}
	}
}

func TestResultToModern(t *testing.T) {
	tests := []struct {
		name         string
		method       Method
		result, want string
	}{
		{"a tool's", ToolsCall, `{ "content":[] }`, `{"resultType":"complete", "content":[] }`},
		{"an empty one", Complete, `{}`, `{"resultType":"complete"}`},
		{"a resource", ResourcesRead, `{"contents":[]}`, `{"resultType":"complete","ttlMs":0,"cacheScope":"private","contents":[]}`},
		{"an empty list", ToolsList, `{}`, `{"resultType":"complete","ttlMs":0,"cacheScope":"private"}`},
		{"one that is complete already", PromptsGet, `{"resultType":"complete","messages":[]}`, `{"resultType":"complete","messages":[]}`},
		{"one of another type", ToolsCall, `{"content":[],"resultType":"input_required"}`, `{"content":[],"resultType":"complete"}`},
		{"one of a type that is null", ToolsCall, `{"resultType":null}`, `{"resultType":"complete"}`},
		{"a resource that says how long it may be kept", ResourcesRead, `{"ttlMs":60000,"contents":[]}`,
			`{"resultType":"complete","cacheScope":"private","ttlMs":60000,"contents":[]}`},
		{"a resource for all", ResourcesRead, `{"cacheScope":"public","ttlMs":0}`, `{"resultType":"complete","cacheScope":"public","ttlMs":0}`},
		{"values that are none", ResourcesRead, `{"cacheScope":"all","ttlMs":-1}`, `{"resultType":"complete","cacheScope":"private","ttlMs":0}`},
		{"values of other types", ResourcesRead, `{"cacheScope":null,"ttlMs":"5"}`, `{"resultType":"complete","cacheScope":"private","ttlMs":0}`},
		{"a number in another form", ResourcesRead, `{"cacheScope":"private","ttlMs":1e3}`, `{"resultType":"complete","cacheScope":"private","ttlMs":0}`},
		{"a fraction of a millisecond", ResourcesRead, `{"cacheScope":"private","ttlMs":0.5}`, `{"resultType":"complete","cacheScope":"private","ttlMs":0}`},
		{"a tool's that says so, too", ToolsCall, `{"ttlMs":"x"}`, `{"resultType":"complete","ttlMs":"x"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := response(t, tt.result)
			r := resultOf(t, m)
			if got := spliced(t, m, r.ToModern(idEdit(m), m, tt.method)); got != reply(tt.want) {
				t.Errorf("got  %s\nwant %s", got, reply(tt.want))
			}
		})
	}
}

func TestResultToLegacy(t *testing.T) {
	const info = `"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}`
	tests := []struct {
		name         string
		method       Method
		result, want string
		wrapped      bool
	}{
		{name: "a tool's", method: ToolsCall, result: `{"resultType":"complete","content":[]}`, want: `{"content":[]}`},
		{name: "the type last", method: ToolsCall, result: `{"content":[] , "resultType" : "complete" }`, want: `{"content":[]  }`},
		{name: "nothing else", method: Complete, result: `{"resultType":"complete","_meta":{` + info + `}}`, want: `{}`},
		{name: "a resource", method: ResourcesRead, result: `{"ttlMs":5,"contents":[],"cacheScope":"public","resultType":"complete"}`, want: `{"contents":[]}`},
		{name: "a tool's own ttlMs", method: ToolsCall, result: `{"ttlMs":5,"content":[],"resultType":"complete"}`, want: `{"ttlMs":5,"content":[]}`},
		{name: "other things in _meta", method: ToolsCall, result: `{"_meta":{"a":1,` + info + `},"resultType":"complete","content":[]}`, want: `{"_meta":{"a":1},"content":[]}`},
		{name: "a _meta without the server", method: ToolsCall, result: `{"_meta":{"a":1},"content":[]}`, want: `{"_meta":{"a":1},"content":[]}`},
		{name: "an empty _meta", method: ToolsCall, result: `{"_meta":{},"content":[]}`, want: `{"_meta":{},"content":[]}`},
		{name: "a _meta that is null", method: ToolsCall, result: `{"_meta":null,"content":[]}`, want: `{"_meta":null,"content":[]}`},
		{name: "structured content", method: ToolsCall, result: `{"structuredContent":{"a":1},"content":[]}`, want: `{"structuredContent":{"a":1},"content":[]}`},
		{name: "structured content of a wrapped schema", method: ToolsCall, wrapped: true,
			result: `{"structuredContent":{"a":1},"resultType":"complete","content":[]}`, want: `{"structuredContent":{"result":{"a":1}},"content":[]}`},
		{name: "structured content that is a list", method: ToolsCall, result: `{"content":[],"structuredContent":[1],"resultType":"complete"}`,
			want: `{"content":[],"structuredContent":{"result":[1]}}`},
		{name: "structured content that is null", method: ToolsCall, result: `{"resultType":"complete","structuredContent":null}`, want: `{"structuredContent":{"result":null}}`},
		{name: "no structured content", method: ToolsCall, wrapped: true, result: `{"content":[]}`, want: `{"content":[]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := response(t, tt.result)
			r := resultOf(t, m)
			edits, err := r.ToLegacy(idEdit(m), m, tt.method, tt.wrapped)
			if err != nil {
				t.Fatal(err)
			}
			if got := spliced(t, m, edits); got != reply(tt.want) {
				t.Errorf("got  %s\nwant %s", got, reply(tt.want))
			}
		})
	}
	m := response(t, `{"_meta":{`+info+`,`+info+`}}`)
	r := resultOf(t, m)
	if _, err := r.ToLegacy(nil, m, ToolsCall, false); err == nil {
		t.Error("a server that names itself twice was accepted")
	}
}

func TestResultsAllocateNothing(t *testing.T) {
	text := strings.Repeat("x", 900)
	legacy := response(t, `{"content":[{"type":"text","text":"`+text+`"}]}`)
	modern := response(t, `{"resultType":"complete","content":[{"type":"text","text":"`+text+`"}],"structuredContent":[1],`+
		`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"},"a":1},"ttlMs":0,"cacheScope":"private"}`)
	room := make([]jsonrpc.Edit, 0, 8)
	for name, f := range map[string]func() int{
		"to modern": func() int { r, _ := ResultOf(legacy); return len(r.ToModern(room, legacy, ResourcesRead)) },
		"to legacy": func() int {
			r, _ := ResultOf(modern)
			edits, _ := r.ToLegacy(room, modern, ResourcesRead, false)
			return len(edits)
		},
	} {
		if n := testing.AllocsPerRun(100, func() {
			if f() < 3 {
				t.Error("too few edits")
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
