package ops

import (
	"sync"
	"sync/atomic"
	"time"

	"toolman/router/audit"
	"toolman/router/httpd/ops/prom"
)

// maxTools bounds the values of the label tool. Servers may offer tools without end.
const maxTools = 200

// tools count calls by the names of tools, for the tools that the configuration names.
type tools struct {
	calls *prom.Counter
	took  *prom.Histogram

	counts atomic.Pointer[func(name string) bool]
	mu     sync.RWMutex
	known  map[string]bool // guarded by mu: names with a label of their own
}

func newTools() *tools {
	return &tools{
		calls: prom.NewCounter("toolman_tool_calls_total", "Calls of the tools in metrics_tools that are over.", "tool", "outcome"),
		took:  prom.NewHistogram("toolman_tool_duration_seconds", "How long clients waited for these tools; without calls that were refused.", bounds, "tool"),
		known: map[string]bool{},
	}
}

// CountTools says which tools are counted by name from now on; nil: none.
func (m *Metrics) CountTools(counts func(name string) bool) {
	if counts == nil {
		counts = func(string) bool { return false }
	}
	m.tools.counts.Store(&counts)
}

// ended counts a call. The name of a tool that no server has is the client's, and not counted.
func (t *tools) ended(l *audit.Line, took time.Duration) {
	counts := t.counts.Load()
	if counts == nil || l.Kind != "tool" || l.Server == "" || !(*counts)(l.Name) {
		return
	}
	name := t.label(l.Name)
	t.calls.Add(1, name, string(l.Outcome))
	if l.Outcome != audit.Refused {
		t.took.Observe(l.Correlation, took, name)
	}
}

// label returns the label for a name.
func (t *tools) label(name string) string {
	t.mu.RLock()
	known, full := t.known[name], len(t.known) >= maxTools
	t.mu.RUnlock()
	switch {
	case known:
		return name
	case full:
		return prom.Other
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.known[name] && len(t.known) >= maxTools {
		return prom.Other
	}
	t.known[name] = true
	return name
}
