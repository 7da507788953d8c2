package mcpwire

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolman/jsonrpc"
)

func TestJudgeError(t *testing.T) {
	tests := []struct {
		name             string
		upstream, client Era
		method           Method
		code             string
		want             Remedy
		becomes          string // "": the same code
	}{
		{"bad params of a modern server", Modern, Legacy, ToolsCall, "-32602", PassOn, ""},
		{"an internal error of a modern server", Modern, Legacy, ResourcesRead, "-32603", PassOn, ""},
		{"a capability missing for a tool", Modern, Legacy, ToolsCall, "-32021", Explain, ""},
		{"a capability missing for a prompt", Modern, Legacy, PromptsGet, "-32021", PassOn, ""},
		{"a capability missing, and the client understands", Modern, Modern, ToolsCall, "-32021", PassOn, ""},
		{"a revision that the server does not speak", Modern, Legacy, ToolsCall, "-32022", Reconsider, ""},
		{"a revision that the server does not speak any more", Modern, Modern, ToolsCall, "-32022", Reconsider, ""},
		{"a resource not found", Legacy, Modern, ResourcesRead, "-32002", PassOn, "-32602"},
		{"a resource not found, and the client understands", Legacy, Legacy, ResourcesRead, "-32002", PassOn, ""},
		{"a modern server with an old code", Modern, Modern, ResourcesRead, "-32002", PassOn, ""},
		{"a URL to visit", Legacy, Modern, ToolsCall, "-32042", AskUser, ""},
		{"a URL to visit for a prompt", Legacy, Modern, PromptsGet, "-32042", AskUser, ""},
		{"a URL to visit for what takes no input", Legacy, Modern, Complete, "-32042", PassOn, "-32603"},
		{"a URL to visit, and the client understands", Legacy, Legacy, ToolsCall, "-32042", PassOn, ""},
		{"the server's own code", Legacy, Modern, ToolsCall, "-32001", PassOn, ""},
		{"the last of the server's own codes", Legacy, Modern, ToolsCall, "-32019", PassOn, ""},
		{"the first of the reserved codes", Legacy, Modern, ToolsCall, "-32020", PassOn, "-32603"},
		{"a code that would speak of revisions", Legacy, Modern, ToolsCall, "-32022", PassOn, "-32603"},
		{"the last of the reserved codes", Legacy, Modern, ToolsCall, "-32099", PassOn, "-32603"},
		{"beyond the reserved codes", Legacy, Modern, ToolsCall, "-32100", PassOn, ""},
		{"code 0", Legacy, Modern, ToolsCall, "0", PassOn, ""},
		{"an application's code", Legacy, Modern, ToolsCall, "1", PassOn, ""},
		{"a code that is no number", Legacy, Modern, ToolsCall, `"-32002"`, PassOn, ""},
		{"a code in another form", Legacy, Modern, ToolsCall, `-3.2002e4`, PassOn, "-32602"},
		{"a huge code", Legacy, Modern, ToolsCall, `-99999999999999999999`, PassOn, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := failure(t, fmt.Sprintf(`{ "message":"m","code" : %s , "data":{"code":1}}`, tt.code))
			edits, remedy, err := JudgeError(nil, m, tt.method, tt.upstream, tt.client)
			if err != nil || remedy != tt.want {
				t.Errorf("got %d, %v, want %d", remedy, err, tt.want)
			}
			want := strings.Replace(string(m.Frame), tt.code, cmp.Or(tt.becomes, tt.code), 1)
			if got := spliced(t, m, edits); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
	if _, _, err := JudgeError(nil, failure(t, `{"code":-32002,"code":-32042,"message":""}`), ToolsCall, Legacy, Modern); err == nil {
		t.Error("two codes were accepted")
	}
	if edits, remedy, err := JudgeError(nil, failure(t, `{"message":""}`), ToolsCall, Legacy, Modern); len(edits) > 0 || remedy != PassOn || err != nil {
		t.Errorf("no code: %v, %d, %v", edits, remedy, err)
	}
}

func TestAMissingCapabilityThatIsNamedIsOneInBothEras(t *testing.T) {
	for object, kept := range map[string]bool{
		`{"code":-32021,"message":"m","data":{"requiredCapabilities":{"sampling":{}}}}`: true,
		`{"code":-32021,"message":"m","data":{"requiredCapabilities":["sampling"]}}`:    false,
		`{"code":-32021,"message":"m"}`:                                                 false,
		`{"code":-32020,"message":"m","data":{"requiredCapabilities":{}}}`:              false,
	} {
		edits, remedy, err := JudgeError(nil, failure(t, object), ToolsCall, Legacy, Modern)
		if err != nil || remedy != PassOn || (len(edits) == 0) != kept {
			t.Errorf("%s: %v, %d, %v", object, edits, remedy, err)
		}
	}
}

func TestErrorText(t *testing.T) {
	for object, want := range map[string]string{
		`{"code":-32021,"message":"n\u0065eds","data":{"requiredCapabilities":{"sampling":{},"roots":{}}}}`: `needs ["sampling" "roots"]`,
		`{"code":1,"message":"m","data":{"requiredCapabilities":["sampling"]}}`:                             `m []`,
		`{"code":1,"message":{},"data":"x"}`:                                                                ` []`,
		`{"code":1,"message":"a","message":"b","data":{},"data":{}}`:                                        ` []`,
		`{}`: ` []`,
	} {
		message, required := ErrorText(failure(t, object))
		if got := fmt.Sprintf("%s %q", message, required); got != want {
			t.Errorf("%s: got %s, want %s", object, got, want)
		}
	}
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, `"%d":{},`, i)
	}
	if _, required := ErrorText(failure(t, `{"data":{"requiredCapabilities":{`+strings.TrimSuffix(many.String(), ",")+`}}}`)); len(required) > maxNamed {
		t.Errorf("%d capabilities", len(required))
	}
}

func TestTakesInput(t *testing.T) {
	takes := []Method{ToolsCall, PromptsGet, ResourcesRead}
	for _, method := range requests {
		if TakesInput(method) != slices.Contains(takes, method) {
			t.Errorf("%s: got %v", method, TakesInput(method))
		}
	}
}

func TestJudgingErrorsAllocatesNothing(t *testing.T) {
	m := failure(t, `{"code":-32002,"message":"m"}`)
	room := make([]jsonrpc.Edit, 0, 1)
	if n := testing.AllocsPerRun(100, func() {
		if edits, _, _ := JudgeError(room, m, ResourcesRead, Legacy, Modern); len(edits) != 1 {
			t.Error("no edit")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// failure scans an error response.
func failure(t testing.TB, object string) *jsonrpc.Message {
	t.Helper()
	return rescan(t, `{"jsonrpc":"2.0","id":1,"error":`+object+`}`)
}
