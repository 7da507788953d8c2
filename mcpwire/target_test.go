package mcpwire

import (
	"errors"
	"fmt"
	"testing"

	"toolman/jsonrpc"
)

// request scans a request of method with params, which may be empty.
func request(t *testing.T, method Method, params string) *jsonrpc.Message {
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

func checkForm(t *testing.T, at jsonrpc.Span, err error) {
	t.Helper()
	if _, ok := errors.AsType[*jsonrpc.FormError](err); !ok || at.Present() {
		t.Errorf("got %v and %v, want nothing and a FormError", at, err)
	}
}

func TestTarget(t *testing.T) {
	const many = `"1":1,"2":1,"3":1,"4":1,"5":1,"6":1,"7":1,"8":1,"9":1,"10":1,"11":1,"12":1,"13":1,"14":1,"15":1,"16":1,"17":1,`
	for _, tt := range []struct {
		name   string
		method Method
		params string
		want   string
		kind   Kind
	}{
		{"a tool", ToolsCall, `{"name":"a","arguments":{"name":"b"}}`, `"a"`, Tool},
		{"a tool behind its arguments", ToolsCall, `{"arguments":{"name":"b","uri":"c"},"name":"a"}`, `"a"`, Tool},
		{"a prompt", PromptsGet, `{"name":"a"}`, `"a"`, Prompt},
		{"a resource that is read", ResourcesRead, `{"uri":"a://b"}`, `"a://b"`, Resource},
		{"a resource that is subscribed to", Subscribe, `{"uri":"a://b"}`, `"a://b"`, Resource},
		{"a resource that is unsubscribed from", Unsubscribe, `{"uri":"a://b"}`, `"a://b"`, Resource},
		{"the prompt of a completion", Complete, `{"ref":{"type":"ref/prompt","name":"a"},"argument":{"name":"b","value":"c"}}`, `"a"`, Prompt},
		{"the template of a completion", Complete, `{"argument":{},"ref":{"uri":"a://{b}","type":"ref/resource"}}`, `"a://{b}"`, Template},
		{"an escaped type of a completion", Complete, `{"ref":{"type":"ref\/promp\u0074","name":"a"}}`, `"a"`, Prompt},
		{"an escaped key", ToolsCall, `{"n\u0061me":"a"}`, `"a"`, Tool},
		{"escaped keys at every level", Complete, `{"\u0072ef":{"t\u0079pe":"ref/resource","ur\u0069":"x"}}`, `"x"`, Template},
		{"an escaped value", ToolsCall, `{"name":"\u0061"}`, `"\u0061"`, Tool},
		{"an empty name", ToolsCall, `{"name":""}`, `""`, Tool},
		{"spaces", ToolsCall, " {\t\"name\" : \"a\" } ", `"a"`, Tool},
		{"more members than are remembered", ToolsCall, `{` + many + `"name":"a"}`, `"a"`, Tool},
		{"a key that only starts alike", ToolsCall, `{"name2":"b","nam":"c","names":"d"}`, "", Tool},
		{"a look-alike where nobody looks", ToolsCall, `{"name":"a","URI":"b","arguments":{"NAME":"c","name":1}}`, `"a"`, Tool},

		{"no params", ToolsCall, "", "", Tool},
		{"params that are a list", ToolsCall, `["name","a"]`, "", Tool},
		{"params that are null", ResourcesRead, `null`, "", Resource},
		{"params that are a string", ToolsCall, `"name"`, "", Tool},
		{"no name", ToolsCall, `{}`, "", Tool},
		{"a name that is a number", ToolsCall, `{"name":1}`, "", Tool},
		{"a name that is null", PromptsGet, `{"name":null}`, "", Prompt},
		{"a URI that is an object", ResourcesRead, `{"uri":{"uri":"a"}}`, "", Resource},
		{"a completion without a ref", Complete, `{"argument":{}}`, "", 0},
		{"a completion whose ref is a string", Complete, `{"ref":"ref/prompt"}`, "", 0},
		{"a completion whose ref has no type", Complete, `{"ref":{"name":"a","uri":"b"}}`, "", 0},
		{"a completion of another type", Complete, `{"ref":{"type":"ref/tool","name":"a"}}`, "", 0},
		{"a completion whose type is a list", Complete, `{"ref":{"type":["ref/prompt"],"name":"a"}}`, "", 0},
		{"a completion for a prompt with a URI", Complete, `{"ref":{"type":"ref/prompt","uri":"b"}}`, "", Prompt},
		{"a completion whose URI is a number", Complete, `{"ref":{"type":"ref/resource","uri":1}}`, "", Template},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := request(t, tt.method, tt.params)
			at, kind, err := Target(m, tt.method)
			checkSpan(t, m, at, err, tt.want)
			if kind != tt.kind {
				t.Errorf("kind %s, want %s", kind, tt.kind)
			}
		})
	}
}

func TestTargetOfMethodsWithoutOne(t *testing.T) {
	for _, method := range []Method{Initialize, Ping, ToolsList, PromptsList, ResourcesList, TemplatesList, SetLevel,
		CreateMessage, Elicit, ListRoots, Cancelled, Progress, ResourceUpdated, "tools/Call", "toolscall", ""} {
		m := request(t, method, `{"name":"a","uri":"b","ref":{"type":"ref/prompt","name":"c"}}`)
		if at, _, err := Target(m, method); at.Present() || err != nil {
			t.Errorf("%q: %v, %v", method, at, err)
		}
	}
}

// What another parser could take for the key that toolman decides on is refused.
func TestTargetRefusesWhatCanBeReadTwoWays(t *testing.T) {
	for _, tt := range []struct {
		name   string
		method Method
		params string
	}{
		{"twice", ToolsCall, `{"name":"a","name":"b"}`},
		{"twice, once escaped", ToolsCall, `{"name":"a","n\u0061me":"b"}`},
		{"twice the same", ToolsCall, `{"name":"a","name":"a"}`},
		{"twice, of two types", ToolsCall, `{"name":1,"name":"a"}`},
		{"another case", ToolsCall, `{"Name":"a"}`},
		{"another case beside it", PromptsGet, `{"name":"a","NAME":"b"}`},
		{"another case, escaped", ToolsCall, `{"\u004eame":"a"}`},
		{"NUL behind it", ToolsCall, `{"name\u0000":"a"}`},
		{"NUL before it", ResourcesRead, `{"\u0000uri":"a"}`},
		{"NUL and more behind it", ToolsCall, `{"name\u0000x":"a"}`},
		{"the params of a call", ToolsCall, `{"1":1,"2":1,"3":1,"4":1,"5":1,"6":1,"7":1,"8":1,"9":1,"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"name":"a","NAME":"b"}`},
		{"ref", Complete, `{"ref":{"type":"ref/prompt","name":"a"},"Ref":{}}`},
		{"type", Complete, `{"ref":{"type":"ref/prompt","Type":"ref/resource","name":"a"}}`},
		{"name of a ref", Complete, `{"ref":{"type":"ref/prompt","name":"a","nAme":"b"}}`},
		{"uri of a ref", Complete, `{"ref":{"type":"ref/resource","uri":"a","uri":"b"}}`},
		{"the URI of a subscription", Subscribe, `{"uri":"a","uRI":"b"}`},
		{"the URI of an unsubscription", Unsubscribe, `{"URI":"b"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at, _, err := Target(request(t, tt.method, tt.params), tt.method)
			checkForm(t, at, err)
		})
	}
}

func TestProgressToken(t *testing.T) {
	for _, tt := range []struct{ name, params, want string }{
		{"a string", `{"_meta":{"progressToken":"a"}}`, `"a"`},
		{"a number", `{"name":"a","_meta":{"x":1,"progressToken":-1.5e3}}`, `-1.5e3`},
		{"zero", `{"_meta":{"progressToken":0}}`, `0`},
		{"an empty string", `{"_meta":{"progressToken":""}}`, `""`},
		{"escaped keys", `{"_m\u0065ta":{"progress\u0054oken":1}}`, `1`},
		{"elsewhere only", `{"progressToken":1,"arguments":{"_meta":{"progressToken":2}}}`, ""},
		{"null", `{"_meta":{"progressToken":null}}`, ""},
		{"an object", `{"_meta":{"progressToken":{}}}`, ""},
		{"true", `{"_meta":{"progressToken":true}}`, ""},
		{"_meta that is a list", `{"_meta":["progressToken"]}`, ""},
		{"_meta that is null", `{"_meta":null}`, ""},
		{"no params", "", ""},
		{"params that are a list", `[{"_meta":{"progressToken":1}}]`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := request(t, ToolsCall, tt.params)
			at, err := ProgressToken(m)
			checkSpan(t, m, at, err, tt.want)
		})
	}
	for _, params := range []string{
		`{"_meta":{"progressToken":1},"_meta":{"progressToken":2}}`,
		`{"_meta":{},"_Meta":{"progressToken":2}}`,
		`{"_meta":{"progressToken":1,"progressToken":1}}`,
		`{"_meta":{"progresstoken":1}}`,
		`{"_meta":{"progreſsToken":1}}`,
		`{"_meta":{"progressToKen":1}}`,
		`{"_meta":{"progressTo\u212aen":1}}`,
		`{"_meta":{"progressToken\u0000":1}}`,
	} {
		at, err := ProgressToken(request(t, ToolsCall, params))
		checkForm(t, at, err)
	}
}

func TestIDParam(t *testing.T) {
	for _, tt := range []struct{ name, params, want string }{
		{"a string", `{"reason":"x","requestId":"a"}`, `"a"`},
		{"a number", `{"requestId":9007199254740993}`, `9007199254740993`},
		{"an escaped key", `{"request\u0049d":1}`, `1`},
		{"null", `{"requestId":null}`, ""},
		{"an object", `{"requestId":{"requestId":1}}`, ""},
		{"a list", `{"requestId":[1]}`, ""},
		{"false", `{"requestId":false}`, ""},
		{"missing", `{"id":1}`, ""},
		{"no params", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := request(t, Cancelled, tt.params)
			at, err := IDParam(m, "requestId")
			checkSpan(t, m, at, err, tt.want)
		})
	}
	for _, params := range []string{`{"requestId":1,"requestId":2}`, `{"requestID":1}`, `{"requestId":1,"REQUESTID":2}`} {
		at, err := IDParam(request(t, Cancelled, params), "requestId")
		checkForm(t, at, err)
	}
}
