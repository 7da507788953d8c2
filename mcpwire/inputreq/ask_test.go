package inputreq

import (
	"errors"
	"strings"
	"testing"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

func TestAskOfALegacyRequest(t *testing.T) {
	for _, tt := range []struct {
		name         string
		method       mcpwire.Method
		params, want string
	}{
		{"roots", mcpwire.ListRoots, ``, ``},
		{"params that are null", mcpwire.ListRoots, `null`, ``},
		{"a form", mcpwire.Elicit, `{"message":"\u003f", "requestedSchema":{"x":1.0}}`, `{"message":"\u003f", "requestedSchema":{"x":1.0}}`},
		{"a URL", mcpwire.Elicit, `{"mode":"url","elicitationId":"e","url":"u"}`, `{"mode":"url","url":"u"}`},
		{"what belongs to the request", mcpwire.CreateMessage, `{"maxTokens":1,"task":{"ttl":1},"_meta":{"progressToken":1}}`, `{"maxTokens":1}`},
		{"a _meta with more", mcpwire.CreateMessage, `{"_meta":{"a":1,"progressToken":1,"io.modelcontextprotocol/related-task":{}},"maxTokens":1,"task":{}}`, `{"_meta":{"a":1},"maxTokens":1}`},
		{"nothing else", mcpwire.ListRoots, `{"_meta":{"progressToken":1}}`, `{}`},
		{"a _meta that is empty", mcpwire.ListRoots, `{"_meta":{}}`, `{"_meta":{}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := request(t, tt.method, tt.params)
			a, err := AskOf(m, "k")
			clear(m.Frame) // an Ask outlives its message
			if err != nil || a.Key != "k" || a.Method != tt.method || string(a.Params) != tt.want || (a.Params == nil) != (tt.want == "") {
				t.Errorf("got %+v %s, %v, want %s", a, a.Params, err, tt.want)
			}
		})
	}
	for method, params := range map[mcpwire.Method]string{
		mcpwire.Elicit: `{"elicitationId":"a","elicitationId":"b"}`, mcpwire.CreateMessage: `{"Task":1}`, mcpwire.ListRoots: `{"_meta":{"progressToken":1,"progressToken":2}}`, mcpwire.TasksGet: `{"taskId":"a"}`,
	} {
		if a, err := AskOf(request(t, method, params), "k"); err == nil {
			t.Errorf("%s was accepted: %+v", params, a)
		}
	}
}

func TestAppendInputRequired(t *testing.T) {
	got := string(AppendInputRequired([]byte("x"), []byte(`"7"`), []Ask{{`a\"`, mcpwire.Elicit, []byte(`{"message":"?"}`)}, {"b", mcpwire.ListRoots, nil}}, "handle"))
	want := `x{"jsonrpc":"2.0","id":"7","result":{"resultType":"input_required","inputRequests":{"a\"":{"method":"elicitation/create","params":{"message":"?"}},` +
		`"b":{"method":"roots/list"}},"requestState":"handle"}}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	m := rescan(t, got[1:])
	r := resultOf(t, m)
	if in, err := InputOf(&r, m); err != nil || len(in.Asks) != 2 || r.ResultType(m) != mcpwire.ResultInputRequired {
		t.Errorf("read as %+v, %v", in, err)
	}
}

// failure scans an error response.
func failure(t testing.TB, object string) *jsonrpc.Message {
	t.Helper()
	return rescan(t, `{"jsonrpc":"2.0","id":1,"error":`+object+`}`)
}

func TestURLAsks(t *testing.T) {
	asks, err := URLAsks(failure(t, `{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","elicitationId":"e","url":"u","message":"?"}, {"url":"v","mode":"url"}]}}`))
	if err != nil || len(asks) != 2 || asks[0].Key != "0" || asks[1].Key != "1" || asks[1].Method != mcpwire.Elicit ||
		string(asks[0].Params) != `{"mode":"url","url":"u","message":"?"}` || string(asks[1].Params) != `{"url":"v","mode":"url"}` {
		t.Errorf("got %s, %v", asks, err)
	}
	for _, data := range []string{``, `,"data":null`, `,"data":{}`, `,"data":{"elicitations":[]}`, `,"data":{"elicitations":{}}`, `,"data":{"elicitations":[{"mode":"form"}]}`,
		`,"data":{"elicitations":["url"]}`, `,"data":{"elicitations":[{"mode":"url","mode":"url"}]}`, `,"data":{"elicitations":[{"mode":"url","elicitationId":1,"elicitationId":2}]}`,
		`,"data":{"elicitations":[` + strings.Repeat(`{"mode":"url"},`, maxAsks) + `{"mode":"url"}]}`} {
		if asks, err := URLAsks(failure(t, `{"code":-32042,"message":"m"`+data+`}`)); err == nil {
			t.Errorf("%s was accepted: %s", data, asks)
		}
	}
}

func TestRetryOf(t *testing.T) {
	m := request(t, mcpwire.ToolsCall, `{"name":"n","inputResponses":{"3":{"action":"accept"},"\u0034":{}},"requestState":"h\u0061ndle"}`)
	r, err := RetryOf(m)
	if err != nil || !r.Is() || string(m.Text(r.State.Value)) != "handle" {
		t.Errorf("got %+v, %v", r, err)
	}
	for key, want := range map[string]string{"3": `{"action":"accept"}`, "4": `{}`, "5": ``} {
		at, err := r.Response(m, key)
		checkSpan(t, m, at, err, want)
	}
	for params, want := range map[string]bool{`{"requestState":"x"}`: true, `{"inputResponses":{}}`: true, `{}`: false, ``: false, `{"arguments":{"requestState":"x"}}`: false} {
		m := request(t, mcpwire.ToolsCall, params)
		r, err := RetryOf(m)
		if err != nil || r.Is() != want {
			t.Errorf("%s: got %+v, %v", params, r, err)
		}
		if at, err := r.Response(m, "3"); err != nil || at.Present() {
			t.Errorf("%s: got %v, %v", params, at, err)
		}
	}
	for _, params := range []string{`{"requestState":null}`, `{"requestState":{}}`, `{"inputResponses":[]}`, `{"inputResponses":null}`, `{"requestState":"a","RequestState":"b"}`,
		`{"inputResponses":{},"inputResponses":{}}`} {
		_, err := RetryOf(request(t, mcpwire.ToolsCall, params))
		if why, ok := errors.AsType[*mcpwire.Refusal](err); !ok || why.Code != -32602 {
			t.Errorf("%s: got %v", params, err)
		}
	}
	m = request(t, mcpwire.ToolsCall, `{"inputResponses":{"a":null,"b":{},"b":{}}}`)
	r, _ = RetryOf(m)
	for _, key := range []string{"a", "b"} {
		if _, err := r.Response(m, key); err == nil {
			t.Errorf("the answer to %s was accepted", key)
		}
	}
}

func TestLacks(t *testing.T) {
	for _, tt := range []struct {
		capabilities string
		method       mcpwire.Method
		params, want string
	}{
		{`{}`, mcpwire.ListRoots, ``, `{"roots":{}}`},
		{``, mcpwire.ListRoots, ``, `{"roots":{}}`},
		{`{"roots":{"listChanged":true}}`, mcpwire.ListRoots, `{}`, ``},
		{`{"roots":null}`, mcpwire.ListRoots, ``, `{"roots":{}}`},
		{`{"Roots":{}}`, mcpwire.ListRoots, ``, `{"roots":{}}`},
		{`{"roots":{}}`, mcpwire.CreateMessage, `{}`, `{"sampling":{}}`},
		{`{"sampling":{}}`, mcpwire.CreateMessage, `{"includeContext":"none"}`, ``},
		{`{"sampling":{}}`, mcpwire.CreateMessage, `{"tools":[]}`, `{"sampling":{"tools":{}}}`},
		{`{}`, mcpwire.CreateMessage, `{"toolChoice":{}}`, `{"sampling":{"tools":{}}}`},
		{`{"sampling":{"tools":{}}}`, mcpwire.CreateMessage, `{"tools":[],"toolChoice":{}}`, ``},
		{`{}`, mcpwire.Elicit, `{}`, `{"elicitation":{}}`},
		{`{"elicitation":{}}`, mcpwire.Elicit, `{}`, ``}, // that means forms
		{`{"elicitation":{}}`, mcpwire.Elicit, `{"mode":"form"}`, ``},
		{`{"elicitation":{"form":{}}}`, mcpwire.Elicit, `{"mode":"form"}`, ``},
		{`{"elicitation":{"url":{}}}`, mcpwire.Elicit, `{"mode":"form"}`, `{"elicitation":{"form":{}}}`},
		{`{"elicitation":{"url":{},"form":{}}}`, mcpwire.Elicit, `{}`, ``},
		{`{"elicitation":{}}`, mcpwire.Elicit, `{"mode":"url"}`, `{"elicitation":{"url":{}}}`},
		{`{}`, mcpwire.Elicit, `{"mode":"u\u0072l"}`, `{"elicitation":{"url":{}}}`},
		{`{"elicitation":{"url":{}}}`, mcpwire.Elicit, `{"mode":"url"}`, ``},
		{`{"tools":{}}`, mcpwire.ToolsCall, ``, `{}`},
	} {
		if got := Lacks([]byte(tt.capabilities), tt.method, []byte(tt.params)); got != tt.want {
			t.Errorf("%s, %s, %s: got %q, want %q", tt.capabilities, tt.method, tt.params, got, tt.want)
		}
	}
}

func TestAskedSince(t *testing.T) {
	for _, tt := range []struct {
		method       mcpwire.Method
		params, want string
	}{
		{mcpwire.ListRoots, ``, mcpwire.V2024_11_05},
		{mcpwire.CreateMessage, `{"mode":"url"}`, mcpwire.V2024_11_05},
		{mcpwire.CreateMessage, `{"tools":[]}`, mcpwire.V2025_11_25},
		{mcpwire.CreateMessage, `{"toolChoice":{}}`, mcpwire.V2025_11_25},
		{mcpwire.Elicit, ``, mcpwire.V2025_06_18},
		{mcpwire.Elicit, `{"mode":"form","tools":[]}`, mcpwire.V2025_06_18},
		{mcpwire.Elicit, `{"mode":"u\u0072l"}`, mcpwire.V2025_11_25},
	} {
		if got := AskedSince(tt.method, []byte(tt.params)); got != tt.want {
			t.Errorf("%s, %s: got %s, want %s", tt.method, tt.params, got, tt.want)
		}
	}
}
