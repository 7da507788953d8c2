package export

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces/calls"
	"toolman/jsonrpc"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
)

// The parts of OTLP/JSON (opentelemetry-proto, trace/v1). Numbers of 64 bits are strings.
type (
	otlpResource struct {
		Resource struct {
			Attributes []attribute `json:"attributes"`
		} `json:"resource"`
		Scopes []otlpScope `json:"scopeSpans"`
	}
	otlpScope struct {
		Scope struct {
			Name    string `json:"name"`
			Version string `json:"version,omitempty"`
		} `json:"scope"`
		Spans []otlpSpan `json:"spans"`
	}
	otlpSpan struct {
		TraceID    string      `json:"traceId"`
		SpanID     string      `json:"spanId"`
		State      string      `json:"traceState,omitempty"`
		ParentID   string      `json:"parentSpanId,omitempty"`
		Name       string      `json:"name"`
		Kind       int         `json:"kind"`
		Start      string      `json:"startTimeUnixNano"`
		End        string      `json:"endTimeUnixNano"`
		Attributes []attribute `json:"attributes"`
		Events     []otlpEvent `json:"events,omitempty"`
		Status     otlpStatus  `json:"status"`
	}
	otlpEvent struct {
		Time string `json:"timeUnixNano"`
		Name string `json:"name"`
	}
	otlpStatus struct {
		Code    int    `json:"code,omitempty"`
		Message string `json:"message,omitempty"`
	}
	attribute struct {
		Key   string    `json:"key"`
		Value otlpValue `json:"value"`
	}
	otlpValue struct {
		String *string `json:"stringValue,omitempty"`
		Int    string  `json:"intValue,omitempty"`
	}
)

// Values of the protocol.
const (
	kindServer  = 2
	kindClient  = 3
	statusError = 2
	mostEvents  = 128 // of a span
)

// OTLP returns the calls as spans, as the OpenTelemetry conventions for MCP name them
// (open-telemetry/semantic-conventions-genai, docs/gen-ai/mcp.md).
func OTLP(t *Trace, o Options) ([]byte, error) {
	all := []otlpResource{}
	for i, run := range t.Runs {
		var r otlpResource
		add(&r.Resource.Attributes, "service.name", run.self())
		add(&r.Resource.Attributes, "service.version", run.Info.Toolman)
		add(&r.Resource.Attributes, "service.instance.id", run.Info.Run)
		scope := otlpScope{Spans: []otlpSpan{}}
		scope.Scope.Name, scope.Scope.Version = calls.Toolman, o.Version
		w := spans{run: run, seed: fmt.Sprint(run.Info.Run, "\x00", i, "\x00", run.First.Time.UnixNano()), bodies: o.Bodies}
		for _, c := range run.Calls {
			w.call(c)
		}
		scope.Spans = append(scope.Spans, w.all...)
		r.Scopes = []otlpScope{scope}
		all = append(all, r)
	}
	return cli.IndentedJSON(map[string]any{"resourceSpans": all}), nil
}

// spans are the spans of a run.
type spans struct {
	run    *Run
	seed   string
	bodies bool
	all    []otlpSpan
}

// call adds the spans of a call: one for the leg from which it came, and below it one for each
// request on the other leg.
func (w *spans) call(c *calls.Call) {
	top := w.span(c.First, response(c))
	took := c.TotalUS
	if c.Status == trace.StatusPending {
		took = max(0, w.run.Last.US-c.US)
	}
	top.End = nano(c.First, took)
	w.parent(&top, c)
	top.attributesOf(c)
	top.fail(c.Status, c.Code, c.Error, c.Failed())
	var below []otlpSpan
	for _, r := range c.Records {
		switch {
		case r.Kind == trace.Request && r.Leg != c.First.Leg:
			s := w.leg(c, r)
			s.TraceID, s.State, s.ParentID = top.TraceID, top.State, top.SpanID
			below = append(below, s)
		case r.Kind == trace.Notification && r.Leg == c.First.Leg && len(top.Events) < mostEvents:
			top.Events = append(top.Events, otlpEvent{nano(r, 0), r.Method})
		}
	}
	w.all = append(append(w.all, top), below...)
}

// leg returns the span of a request on the other leg.
func (w *spans) leg(c *calls.Call, request *trace.Record) otlpSpan {
	var answer *trace.Record
	for _, r := range c.Records {
		if r.Kind == trace.Response && r.Leg == request.Leg && r.Peer == request.Peer && string(r.ID) == string(request.ID) && r.Seq > request.Seq {
			answer = r
			break
		}
	}
	s := w.span(request, answer)
	if answer == nil {
		s.End = nano(request, max(0, cmp.Or(c.US+c.TotalUS, w.run.Last.US)-request.US))
		s.add("toolman.status", trace.StatusPending)
		return s
	}
	s.End = nano(request, cmp.Or(answer.LegUS, answer.US-request.US))
	s.fail(answer.Status, answer.Code, answer.Problem(), answer.Failed())
	return s
}

// span returns the span of a request without its end. answer may be nil.
func (w *spans) span(request, answer *trace.Record) otlpSpan {
	s := otlpSpan{Name: request.Method, Kind: kindServer, Start: nano(request, 0), SpanID: id(8, w.seed, "span", strconv.FormatUint(request.Seq, 10))}
	if request.Dir == trace.Out && w.run.Info.Tap == "" {
		s.Kind = kindClient
	}
	s.add("mcp.method.name", request.Method)
	switch mcpwire.Method(request.Method) {
	case mcpwire.ToolsCall:
		s.Name = strings.TrimSpace(s.Name + " " + request.Name)
		s.add("gen_ai.operation.name", "execute_tool")
		s.add("gen_ai.tool.name", request.Name)
	case mcpwire.PromptsGet:
		s.Name = strings.TrimSpace(s.Name + " " + request.Name)
		s.add("gen_ai.prompt.name", request.Name)
	case mcpwire.ResourcesRead, mcpwire.Subscribe, mcpwire.Unsubscribe:
		s.add("mcp.resource.uri", request.Name)
	}
	if id := string(request.ID); id != "null" {
		if strings.HasPrefix(id, `"`) {
			id = string(jsonrpc.Unquote(request.ID))
		}
		s.add("jsonrpc.request.id", id)
	}
	var p params
	json.Unmarshal(request.Msg, &p) // what is not there stays empty
	s.add("mcp.protocol.version", cmp.Or(p.Params.Meta.Version, w.run.revisions[string(request.Leg)+"\x00"+request.Peer]))
	w.transport(&s, request)
	s.add("toolman.peer", request.Peer)
	if w.bodies && request.Method == string(mcpwire.ToolsCall) {
		s.add("gen_ai.tool.call.arguments", string(p.Params.Arguments))
		if answer != nil {
			var m struct{ Result json.RawMessage }
			json.Unmarshal(answer.Msg, &m)
			s.add("gen_ai.tool.call.result", string(m.Result))
		}
	}
	return s
}

// params are the parts of a request that a span needs.
type params struct {
	Params struct {
		Arguments json.RawMessage
		Meta      struct {
			Parent  string `json:"traceparent"`
			State   string `json:"tracestate"`
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	}
}

// transport adds what is known of the connection to a server.
func (w *spans) transport(s *otlpSpan, r *trace.Record) {
	if w.run.spawned[r.Peer] && r.Leg == trace.Upstream {
		s.add("network.transport", "pipe")
		return
	}
	for _, u := range w.run.Info.Upstreams {
		if r.Leg == trace.Upstream && u.Name == r.Peer || r.Leg == trace.Client && w.run.Info.Tap != "" && u.Name == w.run.Info.Tap {
			at, err := url.Parse(u.Command)
			if err != nil || at.Scheme != "http" && at.Scheme != "https" {
				s.add("network.transport", "pipe")
				return
			}
			s.add("network.transport", "tcp")
			s.add("network.protocol.name", "http")
			s.add("server.address", at.Hostname())
			port := cmp.Or(at.Port(), map[string]string{"http": "80", "https": "443"}[at.Scheme])
			s.Attributes = append(s.Attributes, attribute{"server.port", otlpValue{Int: port}})
			return
		}
	}
}

// parent sets the trace of a span, and the span above it if the request names one (W3C Trace
// Context).
func (w *spans) parent(s *otlpSpan, c *calls.Call) {
	s.TraceID = id(16, w.seed, "trace", strconv.FormatUint(c.First.Seq, 10))
	var p params
	if json.Unmarshal(c.First.Msg, &p) != nil {
		return
	}
	parts := strings.Split(p.Params.Meta.Parent, "-")
	if len(parts) < 4 || !isID(parts[1], 32) || !isID(parts[2], 16) || parts[0] == "ff" {
		return
	}
	s.TraceID, s.ParentID, s.State = parts[1], parts[2], p.Params.Meta.State
}

// isID reports whether an ID of the trace context is valid.
func isID(id string, n int) bool {
	return len(id) == n && strings.Trim(id, "0123456789abcdef") == "" && strings.Trim(id, "0") != ""
}

// id makes an ID of n bytes.
func id(n int, of ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(of, "\x00")))
	return hex.EncodeToString(sum[:n])
}

// attributesOf adds what only the trace of toolman knows of a call.
func (s *otlpSpan) attributesOf(c *calls.Call) {
	s.add("toolman.call", c.Call)
	s.add("toolman.status", c.Status)
	s.add("toolman.verdict", c.Verdict)
	s.add("toolman.rule", c.Rule)
	if c.OwnUS > 0 {
		s.Attributes = append(s.Attributes, attribute{"toolman.own_us", otlpValue{Int: strconv.FormatInt(c.OwnUS, 10)}})
	}
}

// fail adds why a span failed.
func (s *otlpSpan) fail(status string, code int, message string, failed bool) {
	if code != 0 {
		s.add("rpc.response.status_code", strconv.Itoa(code))
	}
	switch {
	case code != 0:
		s.add("error.type", strconv.Itoa(code))
	case status == trace.StatusLocal && failed:
		s.add("error.type", trace.StatusToolError)
	case failed:
		s.add("error.type", status)
	default:
		return
	}
	s.Status = otlpStatus{statusError, message}
}

func (s *otlpSpan) add(key, value string) { add(&s.Attributes, key, value) }

func add(to *[]attribute, key, value string) {
	if value != "" {
		value = strings.ToValidUTF8(value, "\uFFFD")
		*to = append(*to, attribute{key, otlpValue{String: &value}})
	}
}

// nano returns the time of a record, and so many microseconds later, in nanoseconds.
func nano(r *trace.Record, us int64) string {
	return strconv.FormatInt(r.Time.Add(time.Duration(us)*time.Microsecond).UnixNano(), 10)
}
