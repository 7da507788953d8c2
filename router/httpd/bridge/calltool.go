package bridge

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/httpbody"
	"toolman/mcpwire/httpheader"
	"toolman/router/budget"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/httpd/bridge/provider"
)

// A toolCall is a request to call a tool.
type toolCall struct {
	server, tool string
	asked        string // the name in the request, if that names no server
	arguments    []byte
	correlation  string
	began        time.Time
	progress     bool
	kept         *budget.Reader // counts the bytes that are kept for it; may be nil
}

// callTool serves POST /call_tool.
func (x *exchange) callTool() error {
	if err := x.admit(); err != nil {
		return err
	}
	q, err := x.toolCall()
	if err != nil {
		return err
	}
	s, err := x.session(x.r.Context(), &x.caller)
	if err != nil {
		return err
	}
	defer s.Release()
	c, err := x.begin(s, &q)
	if err != nil {
		x.log(s, &q, nil, err)
		return err
	}
	if !x.answer(c, func() { x.log(s, &q, c.result, c.outcome()) }) {
		s.Cancel(c.id, c)
		x.log(s, &q, nil, clientGone(x.r.Context()))
	}
	return nil
}

// toolCall reads the request.
func (x *exchange) toolCall() (q toolCall, err error) {
	p, err := x.read("server", "tool", "arguments")
	if err != nil {
		return q, err
	}
	q.correlation, q.kept, q.began = x.correlation, x.kept, time.Now()
	q.progress = httpheader.AcceptsAny(x.r.Header, httpheader.EventStream)
	if q.server, err = p.text("server"); err != nil {
		return q, err
	}
	if q.tool, err = p.text("tool"); err != nil {
		return q, err
	}
	if q.tool == "" {
		return q, fail(BadRequest, `the request needs "tool", and "server" unless the tool's name says it; GET /tools lists them`)
	}
	q.arguments, err = p.object("arguments")
	return q, err
}

// begin begins a call, unless the request is wrong.
func (b *Bridge) begin(s *session, q *toolCall) (*call, error) {
	c := &call{correlation: q.correlation, kept: q.kept, tool: s.find(q)}
	name := q.tool
	if q.server != "" {
		name = q.server + ":" + q.tool // no tool has this name: the router refuses the call, audits it and suggests names
	}
	if c.tool != nil {
		name = c.tool.Name
		if c.tool.Verdict == catalog.Active {
			if err := b.schemas.check(c.tool.Entry, q.arguments); err != nil {
				s.Router.AuditMisfit(c.tool.Entry, q.correlation, q.arguments)
				return nil, err
			}
		}
	} else if server := s.serverOf(q); server != "" {
		if err := unavailable(s, server); err != nil {
			return nil, err
		}
	}
	if q.progress {
		c.progress = make(chan []byte, maxProgress)
	}
	return s.begin(c, mcpwire.ToolsCall, jsonrpc.Param{Key: "name", Value: jsonrpc.AppendQuoted(nil, name)},
		jsonrpc.Param{Key: "arguments", Value: q.arguments}), nil
}

// find returns the tool that a call names; nil if there is none. The call then has the server's own
// names, also for the log.
func (s *session) find(q *toolCall) *client.FoundTool {
	found := s.Router.FindTool(q.server, q.tool)
	if found == nil && strings.HasPrefix(q.tool, provider.Prefix) {
		if e := s.byModelName()[q.tool]; e != nil && (q.server == "" || e.Source.HasName(q.server)) {
			found = s.Router.FindTool(e.Source.Name, e.Item.Name)
		}
	}
	if found != nil {
		if q.server == "" {
			q.asked = q.tool
		}
		q.tool = found.Item.Name
		q.server = cmp.Or(q.server, found.Source.Name)
	}
	return found
}

// serverOf returns the server of a call: the one that it names, or the one that the name of its
// tool begins with; "" for none.
func (s *session) serverOf(q *toolCall) string {
	if q.server != "" {
		return q.server
	}
	for _, name := range s.Router.Servers() {
		if strings.HasPrefix(q.tool, provider.Prefix+name+"__") || strings.HasPrefix(q.tool, name+":") {
			return name
		}
	}
	return ""
}

// run makes a call and waits for its answer.
func (b *Bridge) run(ctx context.Context, s *session, q *toolCall) ([]byte, error) {
	c, err := b.begin(s, q)
	if err != nil {
		return nil, err
	}
	return s.wait(ctx, c)
}

// answer answers the request with the outcome of its call, after it has called over. It returns
// false if the client has disconnected before.
func (x *exchange) answer(c *call, over func()) bool {
	s := &stream{x, c, httpbody.NewEventWriter(x.w, "no-store")}
	var tick <-chan time.Time
	if c.progress != nil {
		t := time.NewTicker(keepAlive)
		defer t.Stop()
		tick = t.C
	}
	ctx := x.r.Context()
	for {
		var err error
		select {
		case params := <-c.progress:
			err = s.progress(params)
		case <-tick:
			err = s.out.Write([]byte(httpbody.KeepAlive))
		case <-c.done:
			over()
			s.end() // fails if the client has disconnected
			return true
		case <-ctx.Done():
			if s.out.Begun() || expired(ctx) {
				s.fail(clientGone(ctx)) // fails if the client has disconnected
			}
			return false
		}
		if err != nil {
			return false
		}
	}
}

// answer returns the response body. It contains the call's result verbatim.
func (c *call) answer() []byte {
	text := append(make([]byte, 0, len(c.result)+len(c.correlation)+64), `{"result":`...)
	text = append(append(text, c.result...), `,"correlation_id":`...)
	return append(jsonrpc.AppendQuoted(text, c.correlation), '}', '\n')
}

// keepAlive is the interval of comments on a silent stream. Proxies close streams without traffic.
const keepAlive = 20 * time.Second

// A stream is the response to a call: JSON or, if the client accepts progress, server-sent events:
// progress, and at the end result or error. An error before any progress is JSON with its status in
// any case.
type stream struct {
	*exchange
	c   *call
	out httpbody.EventWriter
}

// end sends the remaining progress and the result or error.
func (s *stream) end() error {
	for len(s.c.progress) > 0 {
		if err := s.progress(<-s.c.progress); err != nil {
			return err
		}
	}
	if err := s.c.outcome(); err != nil {
		return s.fail(err)
	}
	text := s.c.answer()
	if s.c.progress == nil {
		writeText(s.w, http.StatusOK, text, s.c.kept)
		return nil
	}
	if err := s.c.kept.Take(len(text)); err != nil {
		return s.fail(err)
	}
	return s.send("result", text)
}

func (s *stream) progress(params []byte) error {
	defer s.c.kept.Give(len(params))
	return s.send("progress", params)
}

// fail ends the stream with a failure.
func (s *stream) fail(err error) error {
	if !s.out.Begun() {
		writeFailure(s.w, err, s.c.correlation)
		return nil
	}
	text, failure := encode(failed{failureFor(err), s.c.correlation})
	if failure != nil {
		return failure
	}
	return s.send("error", text)
}

func (s *stream) send(event string, data []byte) error {
	return s.out.Write(httpbody.AppendEvent(nil, event, bytes.TrimSuffix(data, []byte{'\n'})))
}
