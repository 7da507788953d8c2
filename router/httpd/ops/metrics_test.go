package ops

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"

	"toolman/fixtures/fakemcp"
	"toolman/fixtures/mcptest"
	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/router"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/policy"
	"toolman/router/upstream"
)

// A visitor is a client of a router.
type visitor struct {
	t     *testing.T
	s     *router.Session
	heard chan string
}

func enter(t *testing.T, r *router.Router, who client.Info) *visitor {
	v := &visitor{t: t, heard: make(chan string, 100)}
	v.s = r.NewSession(v, who)
	v.ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"v","version":"1"}}}`)
	v.says(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return v
}

// Queue implements peer.Sender.
func (v *visitor) Queue(frame []byte, edits []jsonrpc.Edit) error {
	v.heard <- string(jsonrpc.AppendSplice(nil, frame, edits...))
	return nil
}

// Flush implements peer.Sender.
func (v *visitor) Flush() {}

func (v *visitor) says(frame string) {
	v.t.Helper()
	var m jsonrpc.Message
	var out peer.Outgoing
	if err := jsonrpc.Scan([]byte(frame), &m); err != nil {
		v.t.Fatalf("%v: %s", err, frame)
	}
	v.s.Message(&m, &out)
	out.Flush()
}

// ask says a request and waits for what comes next.
func (v *visitor) ask(frame string) string {
	v.t.Helper()
	v.says(frame)
	select {
	case answer := <-v.heard:
		return answer
	case <-time.After(mcptest.Patience):
		v.t.Fatalf("no answer to %s", frame)
		return ""
	}
}

func call(id, tool string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":{"x":"argument-of-a-client"}}}`
}

// lines fails the test for each of the lines that the page does not have.
func hasLines(t *testing.T, page string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(page, "\n"+line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
	if t.Failed() {
		t.Logf("the page is\n%s", page)
	}
}

// readable has Prometheus's own reader read a page.
func readable(t *testing.T, page string) {
	t.Helper()
	var parser expfmt.TextParser
	if _, err := parser.TextToMetricFamilies(strings.NewReader(page + "\n")); err != nil {
		t.Errorf("Prometheus cannot read it: %v\n%s", err, page)
	}
}

func TestCallsAreMeasured(t *testing.T) {
	m := NewMetrics("v1")
	globs, err := catalog.CompileGlobs([]string{"fs_*"})
	if err != nil {
		t.Fatal(err)
	}
	rules := &policy.Rules{Exposed: map[string]policy.List{"fs": {Entries: []policy.Entry{{Text: "good"}, {Text: "bad"}, {Text: "slow"}}}}}
	rights, err := rules.For("")
	if err != nil {
		t.Fatal(err)
	}
	spec := fakemcp.Spec{
		Tools: []fakemcp.Raw{fakemcp.Tool("good", ""), fakemcp.Tool("bad", ""), fakemcp.Tool("slow", ""), fakemcp.Tool("closed", "")},
		On: map[string][]fakemcp.Step{
			"tools/call bad":  {fakemcp.Reply(`{"content":[],"isError":true}`)},
			"tools/call slow": {fakemcp.AwaitCancel()},
		},
	}
	r := startRouter(t, router.Options{URISeparator: "_", Active: globs, Policy: rights, Audit: audit.Watch(nil, m),
		Servers: []upstream.Server{fakeServer(t, "fs", spec)}})
	<-r.Started()
	url := serveHandler(t, m.Handler(r))
	v := enter(t, r, client.Info{Agent: "reviewer"})
	answered := 0 // bytes
	for _, one := range []string{call("1", "fs_good"), call("2", "fs_good"), call("3", "fs_bad")} {
		answered += len(v.ask(one))
	}
	v.ask(call("4", "fs_closed"))
	v.ask(call("5", "made_up_by_a_client"))
	mcptest.Eventually(t, "a call is counted after its answer was sent", func() bool {
		_, page, _ := get(t, url)
		return strings.Contains(page, `toolman_calls_total{upstream="fs",outcome="tool_error"} 1`)
	})
	v.says(call("6", "fs_slow"))
	_, page, _ := get(t, url)
	hasLines(t, page, `toolman_upstream_inflight{upstream="fs"} 1`, `toolman_sessions 1`)
	v.says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}}`)
	_, page, header := get(t, url)
	if header.Get("Content-Type") != "text/plain; version=0.0.4; charset=utf-8" {
		t.Errorf("Content-Type %q", header.Get("Content-Type"))
	}
	readable(t, page)
	hasLines(t, page,
		`toolman_calls_total{upstream="fs",outcome="ok"} 2`,
		`toolman_calls_total{upstream="fs",outcome="tool_error"} 1`,
		`toolman_calls_total{upstream="fs",outcome="refused"} 1`,
		`toolman_calls_total{upstream="fs",outcome="cancelled"} 1`,
		`toolman_calls_total{upstream="toolman",outcome="refused"} 1`,
		`toolman_refused_total{agent="reviewer",verdict="denied"} 1`,
		`toolman_refused_total{agent="reviewer",verdict="unknown"} 1`,
		`mcp_server_operation_duration_seconds_count{mcp_method_name="tools/call",error_type=""} 2`,
		`mcp_server_operation_duration_seconds_bucket{mcp_method_name="tools/call",error_type="tool_error",le="300"} 1`,
		`toolman_upstream_inflight{upstream="fs"} 0`,
		`toolman_upstream_duration_seconds_count{upstream="fs"} 4`, // not what was refused
		fmt.Sprintf(`toolman_upstream_request_bytes_total{upstream="fs"} %d`, 2*len(call("1", "fs_good"))+len(call("3", "fs_bad"))+len(call("6", "fs_slow"))),
		`toolman_upstream_up{upstream="fs"} 1`,
		`toolman_upstream_state{upstream="fs",state="gone"} 0`,
		`toolman_upstream_starts_total{upstream="fs"} 1`,
		`toolman_catalog_items{kind="tool",upstream="fs"} 4`,
		`toolman_info{version="v1"} 1`,
	)
	var counted int
	_, after, _ := strings.Cut(page, "\ntoolman_upstream_answer_bytes_total{upstream=\"fs\"} ")
	if _, err := fmt.Sscan(after, &counted); err != nil || counted < answered || counted > answered+3*20 { // under longer ids
		t.Errorf("%v: %d bytes are counted, and clients got %d", err, counted, answered)
	}
	if strings.Contains(page, "client") && strings.Contains(page, "made_up") || strings.Contains(page, "argument") {
		t.Errorf("what a client sent is in\n%s", page)
	}
}

func TestRequestsOverHTTPAreMeasured(t *testing.T) {
	m := NewMetrics("v1")
	inside := make(chan struct{})
	g := &gateway{started: make(chan struct{})}
	h := http.NewServeMux()
	h.Handle("/metrics", m.Handler(g))
	h.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusTeapot)
		io.WriteString(w, "12345")
		if r.URL.Path == "/stay" {
			<-inside
		}
	})
	url := serveHandler(t, Record(m.Gauge(h), m.Request))
	for _, method := range []string{"POST", "POST", "BREW"} {
		req, _ := http.NewRequest(method, url+"/x", strings.NewReader("123"))
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	go func() {
		if resp, err := http.Get(url + "/stay"); err == nil {
			resp.Body.Close()
		}
	}()
	defer close(inside)
	var page string
	await(t, "three requests are over and two under way", func() bool {
		_, page, _ = get(t, url+"/metrics")
		return strings.Contains(page, `{method="_other",status="418"} 1`) && strings.Contains(page, "\ntoolman_http_requests_inflight 2\n")
	})
	readable(t, page)
	hasLines(t, page, `toolman_http_requests_total{method="POST",status="418"} 2`, `toolman_http_received_bytes_total 9`)
	if strings.Contains(page, "BREW") {
		t.Error("a method that a client made up is a label")
	}
}

func TestMeasuringACallAllocatesNothing(t *testing.T) {
	m := NewMetrics("v1")
	l := &audit.Line{Method: "tools/call", Server: "fs", Outcome: audit.OK, Verdict: audit.Allowed}
	once := func() {
		m.Begun(l)
		m.Ended(l)
	}
	once()
	if n := testing.AllocsPerRun(1000, once); n != 0 {
		t.Errorf("%v allocations a call", n)
	}
}

func TestAnAnswerThatOutlivesItsHandlerIsUnderWay(t *testing.T) {
	m := NewMetrics("v1")
	ended := m.Outlive(t.Context())
	if n := m.open.Load(); n != 1 {
		t.Errorf("%d are under way", n)
	}
	if ended(5); m.open.Load() != 0 {
		t.Error("it is under way after its end")
	}
}
