package traces_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces"
	"toolman/cmd/internal/traces/files"
	"toolman/jsonrpc/trace"
)

// run runs `toolman trace` and returns what it prints, or its error with the hint.
func run(t *testing.T, args ...string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	cmd := traces.New()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		return err.Error() + "\n" + cli.Hint(err), cli.Code(err)
	}
	return out.String(), cli.ExitOK
}

func TestTracesThatWereGivenNoFile(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	step := func(want string, code int, args ...string) {
		t.Helper()
		if got, c := run(t, args...); c != code || !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("trace %s: exit %d, %q; want exit %d with %q", strings.Join(args, " "), c, got, code, want)
		}
	}
	step("no traces in .*; toolman tap", cli.ExitOK, "list")
	step("no traces in ", cli.ExitFailed, "--last")
	f, err := files.Create("abcdef", "fs")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := trace.NewWriter(f, trace.Options{Session: trace.Session{Run: "abcdef"}})
	w.Frame(&trace.Frame{Leg: trace.Client, Peer: "inspector", Dir: trace.In, Kind: trace.Request, Method: "tools/list", ID: []byte("1"), Call: 1, Msg: []byte(`{"id":1}`)})
	if err := w.Close(1e9); err != nil {
		t.Fatal(err)
	}
	step(`(?m)^run +when .*\nabcdef  20.* fs +\d+ B  1 +live$`, cli.ExitOK, "list")
	step(`^{"run":"abcdef","started":"20.*","what":"fs","size":\d+,"calls":1,"live":true,"file":".*abcdef-fs.jsonl"}\n$`, cli.ExitOK, "list", "--json")
	step("inspector .*tools/list", cli.ExitOK, "--last", "method:tools")
	step("inspector .*tools/list", cli.ExitOK, "abc")
	step("did you mean abcdef", cli.ExitFailed, "abcdfe")
	step("kept .*abcdef-fs.jsonl: it is still being written\nremoved 0 traces", cli.ExitOK, "prune", "--keep", "0")
	f.Close()
	step("would remove .*abcdef-fs.jsonl .*\nwould remove 1 trace,", cli.ExitOK, "prune", "--keep=0", "--dry-run")
	step("removed 0 traces, 0 B", cli.ExitOK, "prune", "--older", "1d")
	step("removed .*abcdef-fs.jsonl .*\nremoved 1 trace,", cli.ExitOK, "prune", "--keep=0")
	step("--keep N, --older", cli.ExitUsage, "prune")
	step("30m, 12h or 7d", cli.ExitUsage, "prune", "--older", "7 days")
	step("is negative", cli.ExitUsage, "prune", "--keep", "-1")
}
