package inputreq

import (
	"fmt"
	"strings"
	"testing"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

func input(t testing.TB, result string) (*jsonrpc.Message, Input, error) {
	t.Helper()
	m := response(t, result)
	r := resultOf(t, m)
	in, err := InputOf(&r, m)
	return m, in, err
}

func TestInputOfAResult(t *testing.T) {
	m, in, err := input(t, `{"resultType":"input_required","inputRequests":{"user_name":{"method":"elicitation/create","params":{"message":"?"}},`+
		`"l\"lm": {"params":{"maxTokens":1},"method":"sampling\/createMessage"},"":{"method":"roots/list"}},"requestState":"o\u0070aque"}`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range in.Asks {
		got = append(got, fmt.Sprintf("%s %s %s", r.Key, r.Method, r.Params))
	}
	want := []string{`user_name elicitation/create {"message":"?"}`, `l\"lm sampling/createMessage {"maxTokens":1}`, ` roots/list `}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
	checkSpan(t, m, in.State, nil, `"o\u0070aque"`)

	m, in, err = input(t, `{"resultType":"input_required","requestState":""}`)
	if len(in.Asks) != 0 {
		t.Errorf("got %+v", in)
	}
	checkSpan(t, m, in.State, err, `""`)
}

func TestInputRefusesRoundsThatCannotBeGone(t *testing.T) {
	const roots = `{"method":"roots/list"}`
	var many strings.Builder
	for i := range maxAsks + 1 {
		fmt.Fprintf(&many, `"%d":%s,`, i, roots)
	}
	for name, tt := range map[string]struct{ members, says string }{
		"nothing":                    {``, "neither inputRequests nor a requestState"},
		"no requests":                {`"inputRequests":{}`, "neither inputRequests nor a requestState"},
		"a state that is null":       {`"requestState":null,"inputRequests":{"a":` + roots + `}`, "requestState is not a string"},
		"a list of requests":         {`"inputRequests":[` + roots + `],"requestState":""`, "inputRequests is not an object"},
		"requests that are null":     {`"inputRequests":null,"requestState":""`, "inputRequests is not an object"},
		"too many requests":          {`"inputRequests":{` + strings.TrimSuffix(many.String(), ",") + `}`, "more than 16"},
		"one key twice":              {`"inputRequests":{"a":` + roots + `,"\u0061":` + roots + `}`, "same key"},
		"a request that is null":     {`"inputRequests":{"a":null}`, "neither sampling"},
		"a request without a method": {`"inputRequests":{"a":{"params":{}}}`, "neither sampling"},
		"another method":             {`"inputRequests":{"a":{"method":"tools/call"}}`, "neither sampling"},
		"two methods":                {`"inputRequests":{"a":{"method":"roots/list","method":"elicitation/create"}}`, "twice"},
		"params that are a list":     {`"inputRequests":{"a":{"method":"roots/list","params":[]}}`, "params are not an object"},
		"two modes":                  {`"inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"form","mode":"url"}}}`, "twice"},
		"two ids":                    {`"inputRequests":{"a":{"method":"elicitation/create","params":{"elicitationId":"a","ElicitationId":"b"}}}`, "almost like"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, in, err := input(t, `{`+tt.members+`}`); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v for %+v, want %q", err, in, tt.says)
			}
		})
	}
}

func TestInputRequestsAsLegacyRequests(t *testing.T) {
	for _, tt := range []struct{ name, request, want string }{
		{"roots", `{"method":"roots/list"}`, `"method":"roots/list"`},
		{"roots with params", `{"method":"roots/list","params":{ }}`, `"method":"roots/list","params":{ }`},
		{"a form", `{"method":"elicitation/create","params":{"mode":"form","message":"\u003f"}}`, `"method":"elicitation/create","params":{"mode":"form","message":"\u003f"}`},
		{"a URL", `{"method":"elicitation/create","params":{ "mode":"url","url":"https://x"}}`,
			`"method":"elicitation/create","params":{"elicitationId":"e\"1", "mode":"url","url":"https://x"}`},
		{"a URL with an id", `{"method":"elicitation/create","params":{"elicitationId":7,"mode":"url"}}`,
			`"method":"elicitation/create","params":{"elicitationId":"e\"1","mode":"url"}`},
		{"sampling that speaks of a URL", `{"method":"sampling/createMessage","params":{"mode":"url"}}`, `"method":"sampling/createMessage","params":{"mode":"url"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, in, err := input(t, `{"inputRequests":{"a":`+tt.request+`}}`)
			if err != nil {
				t.Fatal(err)
			}
			got := string(in.Asks[0].AppendRequest(nil, []byte("5"), `e"1`))
			if want := `{"jsonrpc":"2.0","id":5,` + tt.want + `}`; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			rescan(t, got)
		})
	}
}

func TestARetryIsTheRequestWithAnswers(t *testing.T) {
	answers := []Answer{{[]byte(`l\"lm`), []byte(`{"role" :"assistant"}`)}, {[]byte(``), []byte(`{}`)}}
	const said = `"inputResponses":{"l\"lm":{"role" :"assistant"},"":{}},`
	for _, tt := range []struct {
		name, params string
		answers      []Answer
		state        string
		want         string
	}{
		{"answers and a state", `{"name":"n"}`, answers, `"o\u0070"`, `{"_meta":{` + bareClaim + `},` + said + `"requestState":"o\u0070","name":"n"}`},
		{"answers only", `{"name":"n"}`, answers, ``, `{"_meta":{` + bareClaim + `},` + said + `"name":"n"}`},
		{"a state only", `{"name":"n","_meta":{"progressToken":1}}`, nil, `""`, `{"requestState":"","name":"n","_meta":{` + bareClaim + `,"progressToken":1}}`},
		{"in place of others", `{"requestState":"mine","name":"n","inputResponses":null}`, nil, `"s"`, `{"_meta":{` + bareClaim + `},"requestState":"s","name":"n"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := request(t, mcpwire.ToolsCall, tt.params)
			var state []byte
			if tt.state != "" {
				state = []byte(tt.state)
			}
			edits, err := AddRetry([]jsonrpc.Edit{{Span: m.ID, New: []byte("9")}}, m, AppendRetryMembers(nil, tt.answers, state))
			if err != nil {
				t.Fatal(err)
			}
			e := envelope(t, m)
			got := spliced(t, m, mcpwire.NewClaim(nil, nil, "").AddTo(edits, m, &e))
			if want := `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":` + tt.want + `}`; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
	for _, params := range []string{``, `[]`, `{"requestState":"a","requestState":"b"}`} {
		if _, err := AddRetry(nil, request(t, mcpwire.ToolsCall, params), []byte(`"a":1,`)); err == nil {
			t.Errorf("%s: no error", params)
		}
	}
}

func TestARetryIsStrippedToTheCallItRepeats(t *testing.T) {
	const claim = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`
	for _, tt := range []struct{ name, params, want string }{
		{"answers and a state", `{"name":"x","inputResponses":{"a":{}},"requestState":"s","_meta":{` + claim + `},"y":1.0}`, `{"name":"x","y":1.0}`},
		{"_meta between them", `{"requestState":"s","_meta":{` + claim + `} , "inputResponses":{},"name":"x"}`, `{"name":"x"}`},
		{"_meta that stays", `{"requestState":"s","_meta":{"progressToken":1,` + claim + `},"name":"x","inputResponses":{}}`, `{"_meta":{"progressToken":1},"name":"x"}`},
		{"nothing but a retry", `{"requestState":"s","inputResponses":{},"_meta":{` + claim + `}}`, `{}`},
		{"no retry", `{"name":"x","_meta":{` + claim + `}}`, `{"name":"x"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			frame := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + tt.params + `}`)
			var m jsonrpc.Message
			if err := jsonrpc.Scan(frame, &m); err != nil {
				t.Fatal(err)
			}
			e, err := envelopeOf(&m)
			if err != nil {
				t.Fatal(err)
			}
			r, err := RetryOf(&m)
			if err != nil {
				t.Fatal(err)
			}
			got := string(jsonrpc.AppendSplice(nil, frame, r.Strip(nil, &m, &e)...))
			if want := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + tt.want + `}`; got != want {
				t.Errorf("got\n%s, want\n%s", got, want)
			}
		})
	}
}

func TestRequiredCapability(t *testing.T) {
	for request, want := range map[mcpwire.Method]string{
		mcpwire.CreateMessage: "sampling", mcpwire.Elicit: "elicitation", mcpwire.ListRoots: "roots",
		mcpwire.TasksGet: "tasks", mcpwire.TasksResult: "tasks", mcpwire.TasksCancel: "tasks", "tasks/list": "", mcpwire.Ping: "", "vendor/ask": "", "": "",
	} {
		if got := RequiredCapability(request); got != want {
			t.Errorf("%q: got %q, want %q", request, got, want)
		}
	}
}
