package traces_test

import (
	"bytes"
	"strings"
	"testing"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces"
)

func TestTraceCommand(t *testing.T) {
	const sample = "printer/testdata/calls.jsonl"
	for _, tt := range []struct {
		name string
		args []string
		code int
		want string // in the output or the error and its hint
	}{
		{"calls", []string{sample, "tool:create_issue"}, cli.ExitOK, "gh_create_issue"},
		{"flags behind the file", []string{sample, "--frames", "call:c41"}, cli.ExitOK, "+0.311 client > {"},
		{"a filter with a dash", []string{"--json", sample, "--", "-peer:gh", "-status:pending", "tool:gh"}, cli.ExitOK, `"call":"c43"`},
		{"no colours where no terminal is", []string{sample, "status:error"}, cli.ExitOK, "   tool_error   "},
		{"no file", nil, cli.ExitUsage, "toolman --trace FILE writes one"},
		{"missing file", []string{"none.jsonl"}, cli.ExitFailed, "toolman --trace none.jsonl"},
		{"bad filter", []string{sample, "dur:5"}, cli.ExitUsage, "dur:>50ms"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, problems bytes.Buffer
			cmd := traces.New()
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			cmd.SetArgs(append([]string{}, tt.args...))
			cmd.SetOut(&out)
			cmd.SetErr(&problems)
			err, code := cmd.ExecuteContext(t.Context()), cli.ExitOK
			said := out.String()
			if err != nil {
				code, said = cli.Code(err), err.Error()+"\n"+cli.Hint(err)
			}
			if code != tt.code || !strings.Contains(said, tt.want) || problems.Len() > 0 {
				t.Errorf("exit %d, %q; want exit %d with %q", code, said, tt.code, tt.want)
			}
		})
	}
}
