package check_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces/check"
)

func run(t *testing.T, stdin string, args ...string) (out, problems string, code int) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("TOOLMAN_MCP_SCHEMAS", "")
	var stdout, stderr bytes.Buffer
	cmd := check.New()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(append([]string{"-"}, args...))
	cmd.SetIn(strings.NewReader(stdin))
	cmd.SetOut(&stdout)
	cmd.SetErr(&stderr)
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		code = cli.Code(err)
		stderr.WriteString(err.Error() + "\n" + cli.Hint(err))
	}
	return stdout.String(), stderr.String(), code
}

const session = `{"v":1,"seq":0,"t":"session","run":"r"}` + "\n"

// frame returns a line of the client's leg: > is into toolman.
func frame(seq, dir, kind, more, msg string) string {
	dir = map[string]string{">": "in", "<": "out"}[dir]
	return `{"v":1,"seq":` + seq + `,"t":"frame","us":` + seq + `000,"leg":"client","peer":"c","dir":"` + dir + `","kind":"` + kind + `",` + more + `,"bytes":` + "100" + `,"msg":` + msg + "}\n"
}

var (
	hello = frame("1", ">", "request", `"method":"initialize","id":0,"call":"c1"`, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`) +
		frame("2", "<", "response", `"method":"initialize","id":0,"call":"c1","status":"local","total_us":1000`, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`)
	call = frame("3", ">", "request", `"method":"tools/call","name":"fs_read","id":1,"call":"c2"`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fs_read","_meta":{"progressToken":7}}}`)
	ok   = frame("9", "<", "response", `"method":"tools/call","name":"fs_read","id":1,"call":"c2","status":"ok","total_us":6000,"own_us":500`, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
	good = session + hello + call + ok
)

func progress(seq, value string) string {
	return frame(seq, "<", "notification", `"method":"notifications/progress","call":"c2"`, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":`+value+`}}`)
}

func TestFindings(t *testing.T) {
	for _, tt := range []struct {
		name, trace string
		args        []string
		code        int
		want        string // in the output
	}{
		{"nothing", good, nil, 0, "2 calls: nothing was found"},
		{"progress", session + hello + call + progress("4", "1") + progress("5", "2") + ok, nil, 0, "nothing"},
		{"progress that does not increase", session + hello + call + progress("4", "2") + progress("5", "2") + ok, nil, 10, "progress 2 follows 2"},
		{"progress for no token", good + progress("10", "1"), nil, 10, "no open request has that progress token"},
		{"an ID in flight", session + hello + call + strings.NewReplacer(`"seq":3`, `"seq":4`, `"c2"`, `"c3"`).Replace(call) + ok, nil, 10, "the id 1 is that of a tools/call in flight"},
		{"an answer to nothing", good + strings.Replace(ok, `"seq":9`, `"seq":10`, 1), nil, 10, "no request is open"},
		{"before initialize", session + call + ok, nil, 10, "line 3 of session 1, c2, c tools/call fs_read: sent by the client: it comes before initialize"},
		{"no message", good + `{"seq":11,"t":"frame","leg":"upstream","peer":"fs","dir":"in","kind":"invalid","rule":"no JSON","text":"{"}`, nil, 10, "fs: no JSON"},
		{"a hung call", session + hello + call, nil, 11, "hung       line 3 of session 1, c2, c tools/call fs_read: it has no answer"},
		{"stray output", good + strings.Repeat(`{"seq":11,"t":"event","event":"junk","peer":"fs","text":"hi\u001b[0m"}`+"\n", 3), nil, 12, "fs: on standard output: hi [0m (3 times)"},
		{"a late answer", good + strings.NewReplacer(`"seq":9`, `"seq":11`, `"ok"`, `"late"`).Replace(ok), nil, 13, "after the call was over"},
		{"an orphan", good + strings.NewReplacer(`"seq":9`, `"seq":11`, `"ok"`, `"orphan"`, `"id":1`, `"id":9`).Replace(ok), nil, 13, "an answer to no request"},
		{"an error", session + hello + call + strings.NewReplacer(`"ok"`, `"rpc_error","code":-32602`, `"result":{"content":[]}`, `"error":{"code":-32602,"message":"no"}`).Replace(ok), nil, 14, "rpc_error -32602: no"},
		{"a refusal", session + hello + call + strings.NewReplacer(`"ok"`, `"tool_error","verdict":"denied","rule":"R (tools.toml:6)"`).Replace(ok), nil, 14, "tool_error, denied (R (tools.toml:6))"},
		{"lost lines", good + `{"seq":12,"t":"event","event":"drop","count":5}`, nil, 16, "lines were lost (5 times)"},
		{"after lost lines nothing is certain", session + `{"seq":1,"t":"event","event":"drop","count":5}` + "\n" + ok, nil, 16, "dropped"},
		{"the most severe wins", session + hello + call + `{"seq":11,"t":"event","event":"junk","peer":"fs","text":"x"}`, nil, 11, "stray"},
		{"another file", "<!doctype html>\nno trace\n", nil, 1, ""},
		{"filters", session + hello + call, []string{"tool:other"}, 0, "nothing"},
		{"a budget that is kept", good, []string{"--max", "p95:fs_*<=6ms", "--max", "count<2", "--max", "bytes:fs_read<1KB", "--max", "own<=1ms", "--max", "errors<=0"}, 0, "nothing"},
		{"a budget of a time", good, []string{"--max", "p95:fs_*<6ms"}, 15, "budget     fs_read: p95 is 6ms, --max p95:fs_*<6ms"},
		{"a budget of a number", good, []string{"--max", "count:fs_read<1"}, 15, "count is 1"},
		{"a budget of bytes", good, []string{"--max", "bytes<0.1kB"}, 15, "bytes is 200"},
		{"a tap has no time of its own", strings.Replace(good, `"run":"r"`, `"run":"r","tap":"s"`, 1), []string{"--max", "own<1us"}, 0, "nothing"},
		{"a budget of toolman's own time", good, []string{"--max", "own:fs_read<100us"}, 15, "own is 500µs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, problems, code := run(t, tt.trace, tt.args...)
			if code != tt.code || !strings.Contains(out, tt.want) {
				t.Errorf("exit %d, want %d with %q:\n%s%s", code, tt.code, tt.want, out, problems)
			}
		})
	}
}

func TestWhatWasNotCheckedIsSaid(t *testing.T) {
	_, problems, code := run(t, good+"no record\n", "--max", "p50:none<1s")
	for _, want := range []string{"no schema for messages of the revision 2025-11-25", "--fetch-schema", "--max p50:none<1s is about no tool", "1 line is no trace record"} {
		if code != 0 || !strings.Contains(problems, want) {
			t.Errorf("exit %d without %q: %s", code, want, problems)
		}
	}
}

// A trace can come from anyone: what it has reaches no terminal as it is.
func TestAHostileRevision(t *testing.T) {
	hostile := strings.Replace(good, `"result":{"protocolVersion":"2025-11-25"`, `"result":{"protocolVersion":"\u001b]0;x\u0007"`, 1)
	_, problems, code := run(t, hostile)
	if code != 0 || !strings.Contains(problems, "no schema for messages of the revision") || strings.ContainsAny(problems, "\x1b\a") {
		t.Errorf("exit %d: %q", code, problems)
	}
}

func TestMessagesAreHeldAgainstTheSchema(t *testing.T) {
	dir := cmp.Or(os.Getenv("TOOLMAN_MCP_SCHEMAS"), "../../../../../shared/mcp/schema")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("SCHEMAS NOT TESTED: %v", err)
	}
	if out, problems, code := run(t, good, "--schema", dir); code != 0 || problems != "" {
		t.Errorf("exit %d: %s%s", code, out, problems)
	}
	bad := strings.Replace(good, `"result":{"content":[]}`, `"result":{"content":[{"type":"text"}]}`, 1)
	if out, _, code := run(t, bad, "--schema", dir); code != 10 || !strings.Contains(out, "sent by the server: no CallToolResult of 2025-11-25") {
		t.Errorf("exit %d: %s", code, out)
	}
	// A placeholder may be no valid value.
	if out, _, code := run(t, strings.Replace(bad, `"seq":9`, `"seq":9,"redacted":["msg.result"]`, 1), "--schema", dir); code != 0 {
		t.Errorf("exit %d: %s", code, out)
	}
}

func TestReports(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.xml")
	out, _, code := run(t, session+hello+call, "--json", "--junit", file, "--max", "count<1")
	var r check.Result
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 11 || r.Exit != 11 || r.Calls != 2 || r.Counts["hung"] != 1 || r.Counts["budget"] != 2 || len(r.Findings) != 3 || r.Findings[0].Seq != 3 {
		t.Errorf("exit %d, %v: %s", code, err, out)
	}
	var suites struct {
		Suites []struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Cases    []struct {
				Name    string  `xml:"name,attr"`
				Failure *string `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	text, err := os.ReadFile(file)
	if err := cmp.Or(err, xml.Unmarshal(text, &suites)); err != nil {
		t.Fatal(err)
	}
	if s := suites.Suites[0]; s.Tests != 7 || s.Failures != 2 || s.Cases[1].Name != "hung" || s.Cases[1].Failure == nil || s.Cases[6].Name != "--max count<1" || s.Cases[6].Failure == nil {
		t.Errorf("%s", text)
	}
}

func TestWrongUse(t *testing.T) {
	for _, tt := range []struct{ arg, value, want string }{
		{"--max", "p95", "there is no <"},
		{"--max", "p97<1s", "p50, p90"},
		{"--max", "p95<5", "not a value for p95"},
		{"--max", "count<x", "not a value for count"},
		{"--max", "bytes<-1", "not a value"},
		{"--max", "p95:<1s", "none of"},
		{"--schema", "none", "REVISION.json"},
	} {
		if _, problems, code := run(t, good, tt.arg, tt.value); code != cli.ExitUsage || !strings.Contains(problems, tt.want) {
			t.Errorf("%s %s: exit %d: %s", tt.arg, tt.value, code, problems)
		}
	}
}
