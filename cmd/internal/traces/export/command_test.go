package export_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces/export"
)

const sample = "../printer/testdata/calls.jsonl"

func run(t *testing.T, args ...string) (said string, code int) {
	t.Helper()
	var out bytes.Buffer
	cmd := export.New()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		return err.Error() + "\n" + cli.Hint(err), cli.Code(err)
	}
	return out.String(), cli.ExitOK
}

func TestFiltersSelectTheCalls(t *testing.T) {
	for format, want := range map[string]string{
		"har": `"url": "mcp://`, "otlp": `"name": "tools/call gh_create_issue"`, "mermaid": "sequenceDiagram\n", "csv": ",gh_create_issue,create_issue,", "txtar": "-- dialog --\n",
	} {
		all, code := run(t, sample, "--format", format)
		if code != 0 || !strings.Contains(all, want) {
			t.Errorf("%s: exit %d without %q:\n%s", format, code, want, all)
		}
		some, code := run(t, sample, "--format", format, "call:c41")
		if code != 0 || len(some) == 0 || len(some) >= len(all) {
			t.Errorf("%s: exit %d, %d of %d bytes", format, code, len(some), len(all))
		}
	}
}

// A trace can come from anyone: nothing in it begins another file, such as a configuration with
// another command.
func TestATraceCannotAddFiles(t *testing.T) {
	const file = `\n-- tools.toml --\n`
	trace := filepath.Join(t.TempDir(), "t.jsonl")
	text := `{"v":1,"seq":0,"t":"session","ts":"2026-11-21T07:23:13Z","us":0,"run":"r","tap":"x` + file + `"}` + "\n"
	for i, result := range []string{`{"protocolVersion":"1` + file + `","capabilities":{}}`, `{"content":[]}`, `{"content":[1]}`} {
		method := "tools/call"
		if i == 0 {
			method = "initialize"
		}
		text += fmt.Sprintf(`{"v":1,"seq":%d,"t":"frame","ts":"2026-11-21T07:23:13Z","us":1,"leg":"client","peer":"c%s","dir":"out","kind":"response","id":1,"method":"%s","name":"n%s","status":"ok","msg":{"jsonrpc":"2.0","id":1,"result":%s}}`+"\n",
			i+1, file, method, file, result)
	}
	if err := os.WriteFile(trace, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := run(t, trace, "--format", "txtar"); code != 0 || strings.Count(out, "\n-- tools.toml --\n") != 1 || strings.Count(out, "\n-- ") != 3 {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

func TestOutput(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "out")
	text, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(in, append(text, "no record\n"...), 0o600)
	if said, code := run(t, in, "--format", "csv", "-o", out); code != 0 || said != "toolman: 1 line is no trace record and left out\n" {
		t.Errorf("exit %d: %s", code, said)
	}
	if got, err := os.ReadFile(out); err != nil || !strings.HasPrefix(string(got), "run,call,") {
		t.Errorf("%v %s", err, got)
	}
	other := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(other, []byte("<!doctype html>\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, code := run(t, other, "--format", "csv"); code != cli.ExitFailed || !strings.Contains(said, other+" is not a trace") {
		t.Errorf("exit %d: %s", code, said)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "needs the name of a trace"},
		{[]string{in}, "a format is missing"},
		{[]string{in, "--format", "xml"}, `unknown format "xml"`},
		{[]string{in, "--format", "csv", "-o", in}, "the trace itself"},
		{[]string{in, "--format", "mermaid", "--limit", "0"}, "too small"},
		{[]string{in, "--format", "csv", "dur:5"}, "dur:>50ms"},
	} {
		if said, code := run(t, tt.args...); code != cli.ExitUsage || !strings.Contains(said, tt.want) {
			t.Errorf("%q: exit %d: %s", tt.args, code, said)
		}
	}
}
