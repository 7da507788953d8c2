package usage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolman/cmd/internal/setup"
	"toolman/router/audit"
)

// run runs the command and returns what it prints.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	local := time.Local
	t.Cleanup(func() { time.Local = local })
	time.Local = time.UTC
	cmd := New(&setup.Flags{})
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.Execute()
	return out.String(), err
}

const log = `{"time":"2026-11-20T10:00:00Z","agent":"a","method":"tools/call","server":"fs","kind":"tool","name":"fs_read","verdict":"allowed","outcome":"ok","duration_ms":1,"toolsets":["x","y"],"request_bytes":10,"answer_bytes":100}
{"time":"2026-11-21T10:00:00Z","agent":"a","method":"tools/call","server":"fs","kind":"tool","name":"fs_read","verdict":"allowed","outcome":"tool_error","duration_ms":3,"toolsets":["x"],"request_bytes":10}
{"time":"2026-11-21T10:00:01Z","agent":"b","method":"tools/call","server":"fs","kind":"tool","name":"fs_read","verdict":"denied","outcome":"refused","duration_ms":50}
{"time":"2026-11-21T10:00:02Z","method":"tools/call","server":"fs","kind":"tool","name":"fs_read","verdict":"allowed","outcome":"cancelled","duration_ms":60}
{"time":"2026-11-21T10:00:03Z","method":"tools/call","server":"fs","kind":"tool","name":"fs_read","verdict":"asked","outcome":"input_required","duration_ms":70}
{"time":"2026-11-21T10:00:04Z","method":"tools/call","kind":"tool","name":"evil\u001b[2J","verdict":"unknown","outcome":"refused","duration_ms":0}
{"time":"2026-11-21T10:00:05Z","method":"prompts/get","server":"fs","kind":"prompt","name":"fs_ask","verdict":"allowed","outcome":"ok","duration_ms":0,"dropped":2}
garbage
{"time":"2026-11-22T10:00:00Z","method":"tools/call","server":"toolman","kind":"tool","name":"toolman_activate","verdict":"allowed","outcome":"ok","duration_ms":1200.5}
{"time":"2026-11-22T
`

func TestUsageIsCountedByToolAgentAndToolset(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	older, newer, _ := strings.Cut(log, "\n")
	for name, text := range map[string]string{path + ".1": older + "\n", path: newer} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := run(t, "--log", path, "--json")
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal([]byte(got), &r); err != nil {
		t.Fatal(err)
	}
	if r.Calls != 6 || r.Unreadable != 2 || r.Dropped != 2 || !r.First.Equal(time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)) {
		t.Errorf("got %+v", r)
	}
	for group, want := range map[string]string{
		byTool:    "fs_read 4 1 1 1 p50 1 p95 3 bytes 20/100 last 10:00:02; (unknown) 1 0 1 0 p50 0 p95 0 bytes 0/0 last 10:00:04; toolman_activate 1 0 0 0 p50 1200.5 p95 1200.5 bytes 0/0 last 10:00:00; ",
		byAgent:   "(none) 3 0 1 1 p50 1200.5 p95 1200.5 bytes 0/0 last 10:00:00; a 2 1 0 0 p50 1 p95 3 bytes 20/100 last 10:00:00; b 1 0 1 0 p50 0 p95 0 bytes 0/0 last 10:00:01; ",
		byToolset: "(none) 4 0 2 1 p50 1200.5 p95 1200.5 bytes 0/0 last 10:00:00; x 2 1 0 0 p50 1 p95 3 bytes 20/100 last 10:00:00; y 1 0 0 0 p50 1 p95 1 bytes 10/100 last 10:00:00; ",
	} {
		text := ""
		for _, w := range r.By[group] {
			text += fmt.Sprintf("%s %d %d %d %d p50 %v p95 %v bytes %d/%d last %s; ", w.Name, w.Calls, w.Errors, w.Refused, w.Cancelled, w.P50, w.P95, w.RequestBytes, w.AnswerBytes, w.LastUse.Format(time.TimeOnly))
		}
		if text != want {
			t.Errorf("by %s: got\n%s\nwant\n%s", group, text, want)
		}
	}
	got, err = run(t, "--log", path, "--by", "tool,agent", "--since", "2026-11-21T00:00:00Z")
	want := path + `: 5 calls of tools, from 2026-11-21 10:00 to 2026-11-22 10:00
2 lines are not read: no records of the audit log
2 lines are missing: toolman could not write as fast

tool                  calls     errors    refused        p50        p95      bytes  last use
fs_read                   3          1          1    3.00 ms    3.00 ms       10 B  2026-11-21 10:00
(unknown)                 1          0          1          -          -        0 B  2026-11-21 10:00
toolman_activate          1          0          0    1200 ms    1200 ms        0 B  2026-11-22 10:00

agent       calls     errors    refused        p50        p95      bytes  last use
(none)          3          0          1    1200 ms    1200 ms        0 B  2026-11-22 10:00
a               1          1          0    3.00 ms    3.00 ms       10 B  2026-11-21 10:00
b               1          0          1          -          -        0 B  2026-11-21 10:00
`
	if err != nil || got != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, got, want)
	}
}

func TestWrongUse(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"--by tols", `--by cannot be "tols"`},
		{"--since soon", `--since cannot be "soon"`},
		{"--since -1h", `--since cannot be "-1h"`},
		{"--log no/such/file", "the audit log cannot be read"},
	} {
		if out, err := run(t, strings.Fields(tt.args)...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v %s", tt.args, err, out)
		}
	}
}

func TestSince(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"": "0001-01-01T00:00:00Z", "24h": "2026-11-22T12:00:00Z", "7d": "2026-11-16T12:00:00Z", "1.5d": "2026-11-22T00:00:00Z",
		"2026-01-31": "2026-01-31T00:00:00Z", "2026-01-31T12:00:00+01:00": "2026-01-31T11:00:00Z",
	} {
		got, err := sinceOf(text, now)
		if err != nil || got.UTC().Format(time.RFC3339) != want {
			t.Errorf("%q: got %v, %v, want %s", text, got, err, want)
		}
	}
}

func TestNamesAndDurationsAreBounded(t *testing.T) {
	c := newCounts(groups())
	for i := range 3 * maxSamples {
		c.add(&audit.Line{Method: "tools/call", Server: "s", Name: fmt.Sprint("tool", i), Agent: "a", Outcome: audit.OK, DurationMS: float64(i)})
	}
	if n := len(c.rows[byTool]); n != maxNames+1 || c.rows[byTool][otherName].Calls != 3*maxSamples-maxNames {
		t.Errorf("%d names", n)
	}
	a := c.table(byAgent)[0]
	if len(a.took) != maxSamples || a.P50 < 1.45*maxSamples || a.P50 > 1.55*maxSamples {
		t.Errorf("%d durations, p50 is %v", len(a.took), a.P50)
	}
}
