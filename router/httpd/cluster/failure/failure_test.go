package failure

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func TestFailures(t *testing.T) {
	for _, tt := range []struct {
		name, method, path, body string
		why                      Failure
		status                   int
		text, event              string
	}{
		{"a call that was not made", "POST", "/mcp", `{"jsonrpc":"2.0","id":7,"method":"tools/call"}`, Failure{Status: 503, Text: "later"},
			503, `"id":7,"error":{"code":-32603,"message":"later"}`, "data: {"},
		{"a call that may have been made", "POST", "/mcp", `{"jsonrpc":"2.0","id":7,"method":"tools/call"}`, Failure{Ran: true, Text: "gone"},
			200, `"message":"gone"`, `"id":7`},
		{"a batch", "POST", "/mcp", `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":"b","method":"ping"}]`,
			Failure{Status: 503, Text: "later"}, 503, `[{"jsonrpc":"2.0","id":1,`, `"id":"b"`},
		{"a notification", "POST", "/mcp", `{"jsonrpc":"2.0","method":"x"}`, Failure{Status: 503, Text: "later"}, 503, `{"jsonrpc":"2.0","error":`, "data: {"},
		{"a stream", "GET", "/mcp", "", Failure{Ran: true, Text: "gone"}, 200, "gone", ""},
		{"the bridge, ran", "POST", "/call_tool", "{}", Failure{Bridge: true, Ran: true, Text: "gone"}, 504, `"timeout"`, "event: error"},
		{"the bridge, limited", "POST", "/call_tool", "{}", Failure{Bridge: true, Status: 429, Text: "many"}, 429, `"rate_limited"`, "event: error"},
		{"the bridge, not now", "POST", "/call_tool", "{}", Failure{Bridge: true, Status: 503, Text: "later"}, 503, `"unavailable"`, "event: error"},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(tt.method, tt.path, nil)
		tt.why.Write(w, r, []byte(tt.body))
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.text) || (w.Header().Get("Retry-After") != "") != (tt.status == 503 || tt.status == 429) {
			t.Errorf("%s: %d %s %v", tt.name, w.Code, w.Body, w.Header())
		}
		if got := string(tt.why.Event(r, []byte(tt.body))); !strings.Contains(got, tt.event) || tt.event == "" && got != "" {
			t.Errorf("%s: the event is %q", tt.name, got)
		}
	}
}
