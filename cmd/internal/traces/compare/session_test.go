package compare_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces/compare"
	"toolman/fixtures/tape"
)

// run runs toolman trace diff.
func run(t *testing.T, args ...string) (out string, code int) {
	t.Helper()
	var b bytes.Buffer
	cmd := compare.New()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	cmd.SetOut(&b)
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		return b.String() + err.Error(), cli.Code(err)
	}
	return b.String(), cli.ExitOK
}

// result runs toolman trace diff --json.
func result(t *testing.T, args ...string) compare.Result {
	t.Helper()
	out, code := run(t, append(args, "--json")...)
	var r compare.Result
	if err := json.NewDecoder(strings.NewReader(out)).Decode(&r); err != nil {
		t.Fatalf("exit %d: %v\n%s", code, err, out)
	}
	if r.Equal != (code == cli.ExitOK) {
		t.Errorf("exit %d, and equal is %v", code, r.Equal)
	}
	return r
}

// brief describes the pairs of a result, a line for each.
func brief(r compare.Result) string {
	var b strings.Builder
	for _, p := range r.Pairs {
		fmt.Fprintf(&b, "%s %s %s", p.State, p.Method, p.Name)
		if p.Moved {
			b.WriteString(" moved")
		}
		for _, d := range append(p.Request, p.Response...) {
			fmt.Fprintf(&b, " %s:%s/%s", d.Path, compact(d.A), compact(d.B))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func compact(v json.RawMessage) string {
	var b bytes.Buffer
	json.Compact(&b, v) // of nothing it is nothing
	return b.String()
}

// call is a tools/call and its result.
func call(id int, name, arguments, text string) string {
	return fmt.Sprintf(`> {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}
< {"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":%s}]}}
`, id, name, arguments, id, cli.JSON(text))
}

func TestSessionsAreAlignedByCall(t *testing.T) {
	a, b, c := `{"p":"a"}`, `{"p":"b"}`, `{"p":"c"}`
	for _, tt := range []struct{ name, a, b, want string }{
		{"other IDs and another layout are the same",
			call(1, "read", `{"x":1,"y":[2]}`, "t"), call(7, "read", `{ "y":[2.0], "x":1 }`, "t"),
			"same tools/call read\n"},
		{"a result changed",
			call(1, "read", a, "old") + call(2, "read", b, "x"), call(1, "read", a, "new") + call(2, "read", b, "x"),
			"changed tools/call read result.content[0].text:\"old\"/\"new\"\nsame tools/call read\n"},
		{"one is only in B",
			call(1, "read", a, "x") + call(2, "read", c, "x"), call(1, "read", a, "x") + call(2, "list", b, "x") + call(3, "read", c, "x"),
			"same tools/call read\nadded tools/call list\nsame tools/call read\n"},
		{"one is only in A, at its place",
			call(1, "read", a, "x") + call(2, "list", b, "x") + call(3, "read", c, "x"), call(1, "read", a, "x") + call(2, "read", c, "x"),
			"same tools/call read\nremoved tools/call list\nsame tools/call read\n"},
		{"other arguments are a changed request",
			call(1, "read", a, "x"), call(1, "read", b, "x"),
			"changed tools/call read params.arguments.p:\"a\"/\"b\"\n"},
		{"order",
			call(1, "read", a, "x") + call(2, "read", b, "y") + call(3, "read", c, "z"), call(1, "read", c, "z") + call(2, "read", a, "x") + call(3, "read", b, "y"),
			"same tools/call read moved\nsame tools/call read\nsame tools/call read\n"},
		{"repeated calls",
			strings.Repeat(call(1, "read", a, "x"), 3), strings.Repeat(call(1, "read", a, "x"), 2),
			"same tools/call read\nsame tools/call read\nremoved tools/call read\n"},
		{"repeated calls around others",
			call(1, "read", a, "x") + call(2, "read", b, "x") + call(3, "read", a, "x") + call(4, "read", b, "x"),
			call(1, "read", b, "x") + call(2, "read", a, "x") + call(3, "read", a, "x"),
			"same tools/call read\nsame tools/call read\nsame tools/call read moved\nremoved tools/call read\n"},
		{"error and result",
			call(1, "read", a, "x"), strings.Split(call(1, "read", a, "x"), "\n")[0] + "\n" + `< {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}`,
			`changed tools/call read result:{"content":[{"text":"x","type":"text"}]}/ error:/{"code":-32602,"message":"no"}` + "\n"},
		{"no response",
			call(1, "read", a, "x"), strings.Split(call(1, "read", a, "x"), "\n")[0],
			"changed tools/call read status:\"ok\"/\"pending\"\n"},
		{"requests of the server",
			`> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}
			< {"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"which?"}}
			> {"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}
			< {"jsonrpc":"2.0","id":1,"result":{}}`,
			`> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}
			< {"jsonrpc":"2.0","id":9,"method":"elicitation/create","params":{"message":"what?"}}
			> {"jsonrpc":"2.0","id":9,"result":{"action":"accept"}}
			< {"jsonrpc":"2.0","id":1,"result":{}}`,
			"same tools/call ask\nchanged elicitation/create  params.message:\"which?\"/\"what?\"\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := result(t, tape.Write(t, tt.a), tape.Write(t, tt.b))
			if brief(got) != tt.want {
				t.Errorf("got\n%swant\n%s", brief(got), tt.want)
			}
			if same := got.Changed+got.Removed+got.Added+got.Moved == 0; got.Equal != same {
				t.Errorf("equal is %v with %+v", got.Equal, got)
			}
		})
	}
}

// Calls that overlap have no order.
func TestOverlappingCallsDoNotMove(t *testing.T) {
	const first, second = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"b"}}`
	const answers = "\n< " + `{"jsonrpc":"2.0","id":2,"result":{}}` + "\n< " + `{"jsonrpc":"2.0","id":1,"result":{}}`
	got := result(t, tape.Write(t, "> "+first+"\n> "+second+answers), tape.Write(t, "> "+second+"\n> "+first+answers))
	if !got.Equal || got.Same != 2 {
		t.Errorf("got %s", brief(got))
	}
}

func TestRules(t *testing.T) {
	for _, tt := range []struct {
		name, a, b string
		rule       string // that ignores the difference; "": none does
	}{
		{"progress token", `> {"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"progressToken":1}}}`, `> {"jsonrpc":"2.0","id":1,"method":"ping","params":{}}`, "ids"},
		{"trace context", `> {"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"traceparent":"00-1"}}}`, `> {"jsonrpc":"2.0","id":1,"method":"ping"}`, "trace-context"},
		{"other _meta", `> {"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"x":1}}}`, `> {"jsonrpc":"2.0","id":1,"method":"ping"}`, ""},
		{"times in text", call(1, "t", "{}", "at 2026-01-02T03:04:05Z."), call(1, "t", "{}", "at 2027-01-02T13:04:05.123+01:00."), "times"},
		{"text beside times", call(1, "t", "{}", "at 2026-01-02T03:04:05Z."), call(1, "t", "{}", "on 2027-01-02T13:04:05Z."), ""},
		{"UUIDs", call(1, "t", "{}", "id 0f8fad5b-d9cb-469f-a165-70867728950e"), call(1, "t", "{}", "id 7c9e6679-7425-40de-944b-e07fc1f90ae7"), "uuids"},
		{"removed secrets", call(1, "t", "{}", "key=[redacted]!"), call(1, "t", "{}", "key=abc!"), "redacted"},
		{"no secret", call(1, "t", "{}", "key=[redacted]!"), call(1, "t", "{}", "key=abc?"), ""},
		{"time as a number", reply(`{"structuredContent":{"createdAt":1795472426,"n":1}}`), reply(`{"structuredContent":{"createdAt":1795472429,"n":1}}`), "times"},
		{"a small number is no time", reply(`{"structuredContent":{"time":3}}`), reply(`{"structuredContent":{"time":4}}`), ""},
		{"duration", reply(`{"structuredContent":{"durationMs":3}}`), reply(`{"structuredContent":{"durationMs":4.5}}`), "durations"},
		{"version", reply(`{"serverInfo":{"name":"s","version":"1"}}`), reply(`{"serverInfo":{"name":"s","version":"2"}}`), "versions"},
		{"name", reply(`{"serverInfo":{"name":"s","version":"1"}}`), reply(`{"serverInfo":{"name":"t","version":"1"}}`), ""},
		{"state", reply(`{"nextCursor":"a"}`), reply(`{"nextCursor":"b"}`), "state"},
		{"order of a list", reply(`{"tools":[{"name":"a"},{"name":"b"}]}`), reply(`{"tools":[{"name":"b"},{"name":"a"}]}`), ""},
		{"null is a value", reply(`{"x":null}`), reply(`{}`), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := tape.Write(t, tt.a), tape.Write(t, tt.b)
			got := result(t, a, b)
			var rules []string
			for _, i := range got.Ignored {
				rules = append(rules, i.Rule)
			}
			if strings.Join(rules, " ") != tt.rule || got.Equal != (tt.rule != "") {
				t.Errorf("ignored by %q, equal %v: %s", rules, got.Equal, brief(got))
			}
			if strict := result(t, a, b, "--strict"); strict.Equal {
				t.Errorf("equal with --strict")
			}
		})
	}
}

// reply is a request and its result.
func reply(result string) string {
	return `> {"jsonrpc":"2.0","id":1,"method":"x"}` + "\n" + `< {"jsonrpc":"2.0","id":1,"result":` + result + `}`
}

// A session of each era: what only one of them has does not count.
func TestSessionsOfDifferentEras(t *testing.T) {
	legacy := tape.Write(t, call(1, "t", "{}", "x"))
	modern := tape.Write(t, `> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}
		< {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"x"}],"_meta":{"io.modelcontextprotocol/serverInfo":{}}}}`)
	if got := result(t, legacy, modern); !got.Equal || len(got.Ignored) != 1 || got.Ignored[0].Rule != "eras" {
		t.Errorf("%+v: %s", got.Ignored, brief(got))
	}
	if got := result(t, legacy, modern, "--strict"); got.Equal {
		t.Error("equal with --strict")
	}
	without := tape.Write(t, `> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}
		< {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"x"}],"_meta":{"io.modelcontextprotocol/serverInfo":{}}}}`)
	if got := result(t, without, modern); brief(got) != "changed tools/call t result.resultType:/\"complete\"\n" {
		t.Errorf("in one era: %s", brief(got))
	}
}

func TestIgnoredPaths(t *testing.T) {
	a := tape.Write(t, reply(`{"tools":[{"name":"a","description":"1"},{"name":"b","description":"1"}],"a.b":{"deep":[{"etag":1}]}}`))
	b := tape.Write(t, reply(`{"tools":[{"name":"a","description":"2"},{"name":"b","description":"2"}],"a.b":{"deep":[{"etag":2}]}}`))
	const all = 3
	for path, left := range map[string]int{
		"result":                        0,
		"$.result":                      0,
		"**":                            0,
		"params":                        all,
		"result.tools":                  1,
		"result.tools[*].description":   1,
		"result.*[*].description":       1,
		"result.tools[name=a]":          2,
		"**.etag":                       2,
		`result["a.b"].deep[0].etag`:    2,
		`result["a.b"].deep[1].etag`:    all,
		"result.tools.*.description":    all,
		"result.tools[*].descriptio":    all,
		"result.**.description":         1,
		"result.tools[name=b].**":       2,
		"tools":                         all,
		"result.tools[*].description.x": all,
	} {
		got := result(t, a, b, "--ignore", path)
		n := 0
		for _, p := range got.Pairs {
			n += len(p.Response)
		}
		if n != left {
			t.Errorf("%s leaves %d differences, want %d: %s", path, n, left, brief(got))
		}
	}
	for _, path := range []string{"", "a..b", "a.", "a[", "a[]", `a["b]`, `a["b"`, "$"} {
		if out, code := run(t, a, b, "--ignore", path); code != cli.ExitUsage {
			t.Errorf("--ignore %q: exit %d, %s", path, code, out)
		}
	}
}

func TestTextOfADiff(t *testing.T) {
	a := tape.Write(t, "= first\n"+call(1, "read", "{}", strings.Repeat("x", 300)+"old\x1b[31m")+"= second\n"+call(1, "read", "{}", "x"))
	b := tape.Write(t, call(1, "read", "{}", strings.Repeat("x", 300)+"new")+call(2, "list", "{}", "y"))
	out, code := run(t, a, b, "--run", "first,1")
	for _, want := range []string{"trace.jsonl, run 1 (first)", "~ tools/call read  A:1 B:0", "    result.content[0].text\n", "  - …", `old\u001b[31m`, "  + …",
		"+ tools/call list  B:2 ok", "1 changed, 1 only in B"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if code != cli.ExitFailed || strings.Contains(out, strings.Repeat("x", 200)) || strings.Contains(out, "\x1b") {
		t.Errorf("exit %d\n%s", code, out)
	}
	if out, code := run(t, a, a); code != cli.ExitOK || !strings.Contains(out, "1 call is equal") || !strings.Contains(out, "run 2 (second)") {
		t.Errorf("exit %d\n%s", code, out)
	}
	if out, code := run(t, a, a, "--run", "third"); code != cli.ExitUsage || !strings.Contains(out, "no run third") {
		t.Errorf("exit %d\n%s", code, out)
	}
	if out, code := run(t, a, b, "--run", "1", "tool:list"); code != cli.ExitFailed || !strings.Contains(out, "1 only in B\n") {
		t.Errorf("exit %d\n%s", code, out)
	}
}
