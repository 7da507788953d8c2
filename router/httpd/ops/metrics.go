package ops

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/audit"
	"toolman/router/httpd/ops/prom"
	"toolman/router/upstream"
)

// Metrics are the counts and times that Prometheus reads at GET /metrics. Their labels are names of
// the configuration and of the protocol, and nothing that a client sends. Only the exemplars of
// OpenMetrics have the correlation IDs that programs give their calls.
type Metrics struct {
	version string
	started time.Time // nearly when the program was started

	took     *prom.Histogram
	waited   *prom.Histogram
	asked    *prom.Counter
	answered *prom.Counter
	calls    *prom.Counter
	cached   *prom.Counter
	refused  *prom.Counter
	requests *prom.Counter
	received *prom.Counter
	sent     *prom.Counter
	tools    *tools

	open     atomic.Int64 // HTTP requests being served
	inFlight inFlight
}

// bounds are the buckets in OpenTelemetry's conventions for MCP.
var bounds = []time.Duration{10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond,
	500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute}

// NewMetrics makes metrics. version is toolman's.
func NewMetrics(version string) *Metrics {
	return &Metrics{
		version: version, started: time.Now(),
		took: prom.NewHistogram("mcp_server_operation_duration_seconds", "How long clients waited for answers.", bounds,
			"mcp_method_name", "error_type"),
		waited:   prom.NewHistogram("toolman_upstream_duration_seconds", "How long clients waited for what a server was asked.", bounds, "upstream"),
		asked:    prom.NewCounter("toolman_upstream_request_bytes_total", "Bytes of requests that a server was asked.", "upstream"),
		answered: prom.NewCounter("toolman_upstream_answer_bytes_total", "Bytes of a server's answers to them.", "upstream"),
		calls:    prom.NewCounter("toolman_calls_total", "Requests about tools, resources and prompts that are over.", "upstream", "outcome"),
		cached:   prom.NewCounter("toolman_cached_calls_total", "Calls that were answered with an earlier result of the server.", "upstream"),
		refused:  prom.NewCounter("toolman_refused_total", "Requests that no server was asked, by what was decided about them.", "agent", "verdict"),
		requests: prom.NewCounter("toolman_http_requests_total", "HTTP requests that are over.", "method", "status"),
		received: prom.NewCounter("toolman_http_received_bytes_total", "Bytes of bodies of HTTP requests."),
		sent:     prom.NewCounter("toolman_http_sent_bytes_total", "Bytes of bodies of HTTP answers."),
		tools:    newTools(),
	}
}

// Begun implements audit.Observer.
func (m *Metrics) Begun(l *audit.Line) { m.inFlight.add(l.Server, 1) }

// Ended implements audit.Observer.
func (m *Metrics) Ended(l *audit.Line) {
	m.inFlight.add(l.Server, -1)
	failure := string(l.Outcome)
	if l.Outcome == audit.OK {
		failure = "" // the conventions have no error.type then
	}
	took := time.Duration(l.DurationMS * float64(time.Millisecond))
	m.took.Observe(l.Correlation, took, l.Method, failure)
	if l.RequestBytes > 0 && l.Outcome != audit.Refused {
		m.waited.Observe(l.Correlation, took, l.Server)
		m.asked.Add(uint64(l.RequestBytes), l.Server)
		m.answered.Add(uint64(l.AnswerBytes), l.Server)
	}
	m.calls.Add(1, cmp.Or(l.Server, "toolman"), string(l.Outcome))
	if l.Cached {
		m.cached.Add(1, l.Server)
	}
	if l.Outcome == audit.Refused {
		m.refused.Add(1, l.Agent, string(l.Verdict))
	}
	m.tools.ended(l, took)
}

// Request counts an HTTP request, for [Record].
func (m *Metrics) Request(r *Request) {
	m.requests.Add(1, methodLabel(r.Method), statusLabel(r.Status))
	m.received.Add(uint64(r.In))
	m.sent.Add(uint64(r.Out))
}

// Gauge counts HTTP requests while next serves them.
func (m *Metrics) Gauge(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.open.Add(1)
		defer m.open.Add(-1)
		next.ServeHTTP(w, r)
	})
}

// Outlive is [Outlive] for requests that Gauge counts: the request still counts as being served.
func (m *Metrics) Outlive(ctx context.Context) (done func(bytes int64)) {
	recorded := Outlive(ctx)
	m.open.Add(1)
	return func(n int64) {
		m.open.Add(-1)
		recorded(n)
	}
}

func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete, http.MethodOptions:
		return method
	}
	return prom.Other
}

func statusLabel(status int) string {
	if status < 100 || status > 599 {
		return prom.Other
	}
	return strconv.Itoa(status)
}

// Handler serves the metrics, with those of the gateway, and more at the end.
func (m *Metrics) Handler(of Gateway, more ...prom.Metric) http.Handler {
	upstreams := prom.Gauge(func(p *prom.Page) { m.upstreams(p, of.Upstreams()) })
	now := prom.Gauge(func(p *prom.Page) { m.now(p, of.Sessions()) })
	return readOnly(func(w http.ResponseWriter, r *http.Request) {
		f := prom.Negotiate(r.Header.Values("Accept"))
		all := []prom.Metric{m.took, m.calls, m.cached, m.tools.calls, m.tools.took, m.refused, m.waited, m.asked, m.answered, upstreams, now,
			m.requests, m.received, m.sent, prom.Gauge(m.process)}
		page := prom.Render(f, append(all, more...)...)
		w.Header().Set("Vary", "Accept")
		write(w, http.StatusOK, f.ContentType(), []byte(page))
	})
}

// maxReason is the number of bytes of a server's problem in a label.
const maxReason = 100

// stateNames returns the names of the states of a server.
func stateNames() []string {
	return []string{upstream.Starting.String(), upstream.Ready.String(), upstream.Gone.String(), upstream.LoginState, upstream.PerSession.String(), upstream.Cached.String()}
}

// upstreams writes the metrics of the servers.
func (m *Metrics) upstreams(p *prom.Page, all []upstream.Status) {
	each := func(name, kind, help string, value func(st upstream.Status) float64) {
		p.Begin(name, kind, help, "upstream")
		for _, st := range all {
			p.Value(value(st), st.Name)
		}
	}
	each("toolman_upstream_up", "gauge", "1 for a server that is ready, that each session has for itself, or whose items are known from the catalog cache.", func(st upstream.Status) float64 {
		return number(usable(st))
	})
	p.Begin("toolman_upstream_state", "gauge", "1 for the state that the server is in.", "upstream", "state")
	for _, st := range all {
		for _, name := range stateNames() {
			p.Value(number(st.StateName() == name), st.Name, name)
		}
	}
	p.Begin("toolman_catalog_items", "gauge", "What a server offers.", "kind", "upstream")
	for _, st := range all {
		for k := range st.Entries {
			p.Value(float64(len(st.Entries[k])), mcpwire.Kind(k).String(), st.Name)
		}
	}
	each("toolman_upstream_inflight", "gauge", "Calls of a server that are not over.", func(st upstream.Status) float64 {
		return float64(m.inFlight.of(st.Name))
	})
	each("toolman_upstream_failures", "gauge", "Ends of a server in a row, from which it has not recovered.", func(st upstream.Status) float64 {
		return float64(st.Failures)
	})
	p.Begin("toolman_upstream_problem", "gauge", "1 for a server that is gone, with the reason.", "upstream", "reason")
	for _, st := range all {
		if st.State == upstream.Gone {
			p.Value(1, st.Name, sanitize.Cut(st.Problem, maxReason))
		}
	}
	each("toolman_upstream_starts_total", "counter", "Connections to a server that were made; with a command, processes.", func(st upstream.Status) float64 {
		return float64(st.Starts)
	})
}

// now writes gauges of the gateway.
func (m *Metrics) now(p *prom.Page, sessions int) {
	p.Gauge("toolman_sessions", "Clients with a session.", float64(sessions))
	p.Gauge("toolman_http_requests_inflight", "HTTP requests under way, open streams included.", float64(m.open.Load()))
	p.Begin("toolman_info", "gauge", "The version that runs.", "version")
	p.Value(1, m.version)
}

// number returns 1 for true and 0 for false.
func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// inFlight counts the calls in flight of each server.
type inFlight struct {
	mu  sync.Mutex
	now map[string]int // guarded by mu
}

func (f *inFlight) add(upstream string, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.now == nil {
		f.now = map[string]int{}
	}
	f.now[upstream] += n
}

func (f *inFlight) of(upstream string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now[upstream]
}

// process writes the metrics that dashboards of Go programs use.
func (m *Metrics) process(p *prom.Page) {
	var memory runtime.MemStats // package runtime/metrics would do work at each start of the program
	runtime.ReadMemStats(&memory)
	p.Gauge("go_goroutines", "Goroutines that there are.", float64(runtime.NumGoroutine()))
	p.Gauge("go_memstats_heap_alloc_bytes", "Bytes of the heap in use.", float64(memory.HeapAlloc))
	p.Gauge("process_start_time_seconds", "When the process was started, since 1970.", float64(m.started.UnixMilli())/1000)
	if resident := residentBytes(); resident > 0 {
		p.Gauge("process_resident_memory_bytes", "Memory that the process has, without its servers'.", resident)
	}
}

// residentBytes returns the resident memory; 0 if the system does not tell it in a file.
func residentBytes() float64 {
	text, _ := os.ReadFile("/proc/self/statm")
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseUint(string(fields[1]), 10, 53)
	return float64(pages) * float64(os.Getpagesize())
}
