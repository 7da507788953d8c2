package calllog

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"toolman/jsonrpc"
	"toolman/router/audit"
)

// answer is an answer of a server.
func answer(t *testing.T, text string) *jsonrpc.Message {
	t.Helper()
	var m jsonrpc.Message
	if err := jsonrpc.Scan([]byte(`{"jsonrpc":"2.0","id":1,`+text+`}`), &m); err != nil {
		t.Fatal(err)
	}
	return &m
}

func TestCallsOfMCPClientsAreRecorded(t *testing.T) {
	scrub := func(text []byte) []byte { return []byte(strings.ReplaceAll(string(text), "hunter2", "[redacted]")) }
	long := strings.Repeat("x", MaxContent)
	for _, tt := range []struct {
		name      string
		line      audit.Line
		arguments string
		do        func(d *audit.Decision)
		want      string // "": nothing
	}{
		{"a result", audit.Line{Server: "s", Agent: "a", Program: audit.Program{Tool: "get", Name: "host", Version: "2", Modern: true}}, `{"k":"hunter2"}`, func(d *audit.Decision) {
			d.Answered(answer(t, `"result":{"content":["hunter2"]}`))
			d.End(audit.OK)
		}, `{"server":"s","tool":"get","input":{"k":"[redacted]"},"result":{"content":["[redacted]"]},"agent":"a","era":"modern","client":{"name":"host","version":"2"},"recorded_by":"toolman"}`},
		{"an error of the server", audit.Line{Server: "s", Program: audit.Program{Tool: "get"}}, ``, func(d *audit.Decision) {
			d.Answered(answer(t, `"error":{"code":-5,"message":"no"}`))
			d.End(audit.RPCError)
		}, `{"server":"s","tool":"get","input":null,"error":{"code":"upstream_error","message":"the server answered with an error: no","details":{"error":{"code":-5,"message":"no"}}},"era":"legacy","recorded_by":"toolman"}`},
		{"a refusal", audit.Line{Program: audit.Program{Tool: "hunter2"}, Verdict: audit.Unknown}, `{}`, func(d *audit.Decision) {
			d.Fail(audit.Refused, "unknown tool")
		}, `{"server":"","tool":"[redacted]","input":{},"error":{"code":"refused unknown","message":"unknown tool"},"era":"legacy","recorded_by":"toolman"}`},
		{"an answer that cannot be passed on", audit.Line{Server: "s", Program: audit.Program{Tool: "get"}}, `{}`, func(d *audit.Decision) {
			d.Answered(answer(t, `"result":{}`))
			d.Fail(audit.Failed, "cannot be passed on")
		}, `{"server":"s","tool":"get","input":{},"error":{"code":"failed ","message":"cannot be passed on"},"era":"legacy","recorded_by":"toolman"}`},
		{"a refusal of a tool of toolman's own", audit.Line{Server: "toolman", Program: audit.Program{Tool: "toolman_activate"}}, `{}`, func(d *audit.Decision) {
			d.Replied([]byte(`{"isError":true}`))
			d.End(audit.Refused)
		}, `{"server":"toolman","tool":"toolman_activate","input":{},"result":{"isError":true},"era":"legacy","recorded_by":"toolman"}`},
		{"cancelled", audit.Line{Server: "s", Program: audit.Program{Tool: "get"}}, `{}`, func(d *audit.Decision) { d.End(audit.Cancelled) },
			`{"server":"s","tool":"get","input":{},"error":{"code":"cancelled ","message":"the client has cancelled the call"},"era":"legacy","recorded_by":"toolman"}`},
		{"too long", audit.Line{Server: "s", Program: audit.Program{Tool: "get"}}, `"` + long + `"`, func(d *audit.Decision) {
			d.Answered(answer(t, `"result":"`+long+`"`))
			d.End(audit.OK)
		}, `{"server":"s","tool":"get","input":null,"result":null,"truncated":true,"era":"legacy","recorded_by":"toolman"}`},
		{"a call that the client repeats", audit.Line{Server: "s", Program: audit.Program{Tool: "get"}}, `{}`, func(d *audit.Decision) { d.End(audit.InputRequired) }, ""},
		{"a call of the bridge", audit.Line{Server: "s", Program: audit.Program{Tool: "get"}, Correlation: "c"}, `{}`, func(d *audit.Decision) { d.End(audit.OK) }, ""},
		{"a prompt", audit.Line{Method: "prompts/get", Server: "s", Program: audit.Program{Tool: "get"}}, `{}`, func(d *audit.Decision) { d.End(audit.OK) }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := New(Options{Scrub: scrub, Code: func(line *audit.Line) string { return string(line.Outcome) + " " + string(line.Verdict) }})
			w := audit.Record(nil, l)
			if tt.line.Method == "" {
				tt.line.Method = "tools/call"
			}
			tt.do(w.Begin(tt.line, nil, time.Now(), []byte(tt.arguments)))
			got := ""
			for _, e := range l.Find(Query{Limit: 10}) {
				e.Timestamp = time.Time{}
				text, err := json.Marshal(e)
				if err != nil {
					t.Fatal(err)
				}
				got += strings.Replace(string(text), `"timestamp":"0001-01-01T00:00:00Z",`, "", 1)
			}
			if got != tt.want {
				t.Errorf("got  %.2000s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestProductsOfUserAgents(t *testing.T) {
	for agent, want := range map[string]string{
		"curl/8.5.0": "curl 8.5.0", "mcp-tool-gateway/1.2 python/3.12": "mcp-tool-gateway 1.2", "x": "x ", "": "none", " / ": "none", "a\x00b/1": "?",
	} {
		got := "none"
		if c := Product(agent); c != nil {
			got = c.Name + " " + c.Version
		}
		if got != want && want != "?" {
			t.Errorf("%q: got %q, want %q", agent, got, want)
		}
		if strings.Contains(got, "\x00") {
			t.Errorf("%q is shown as %q", agent, got)
		}
	}
}
