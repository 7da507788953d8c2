package ops

import (
	"fmt"
	"strings"
	"testing"

	"toolman/router/audit"
	"toolman/router/httpd/ops/prom"
)

func TestCallsAreCountedByToolForTheToolsThatAreNamed(t *testing.T) {
	m := NewMetrics("v")
	page := func() string {
		return prom.Render(prom.Negotiate(nil), m.tools.calls, m.tools.took)
	}
	call := func(server, name string, how audit.Outcome) {
		m.Ended(&audit.Line{Method: "tools/call", Server: server, Kind: "tool", Name: name, Outcome: how, DurationMS: 1})
	}
	call("fs", "fs_read", audit.OK)
	if got := page(); strings.Contains(got, "fs_read") {
		t.Errorf("without names there is %s", got)
	}
	m.CountTools(func(name string) bool { return strings.HasPrefix(name, "fs_") })
	call("fs", "fs_read", audit.OK)
	call("fs", "fs_read", audit.Refused)
	call("gh", "gh_read", audit.OK)
	call("", "fs_of_the_client", audit.Refused)
	got := page()
	for _, want := range []string{`toolman_tool_calls_total{tool="fs_read",outcome="ok"} 1`, `toolman_tool_calls_total{tool="fs_read",outcome="refused"} 1`,
		`toolman_tool_duration_seconds_count{tool="fs_read"} 1`} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, "gh_read") || strings.Contains(got, "of_the_client") {
		t.Errorf("tools that are not named are in\n%s", got)
	}
	for i := range 3 * maxTools {
		call("fs", fmt.Sprint("fs_", i), audit.OK)
	}
	if n := strings.Count(page(), "toolman_tool_calls_total{"); n > maxTools+3 || !strings.Contains(page(), `{tool="_other",outcome="ok"}`) {
		t.Errorf("there are %d series", n)
	}
	m.CountTools(nil)
	before := page()
	call("fs", "fs_read", audit.OK)
	if page() != before {
		t.Error("after a reload without names, calls are counted by tool")
	}
}
