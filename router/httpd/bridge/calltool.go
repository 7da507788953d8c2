package bridge

import (
	"bytes"
	"net/http"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/httpbody"
	"toolman/mcpwire/httpheader"
	"toolman/router/budget"
	"toolman/router/catalog"
)

// A toolCall is a request to call a tool.
type toolCall struct {
	server, tool string
	arguments    []byte
	correlation  string
	progress     bool
	kept         *budget.Reader // counts the bytes that are kept for it; may be nil
}

// callTool serves POST /call_tool.
func (x *exchange) callTool() *Failure {
	if f := x.admit(); f != nil {
		return f
	}
	q, f := x.toolCall()
	if f != nil {
		return f
	}
	s, f := x.session(x.r.Context(), &x.caller)
	if f != nil {
		return f
	}
	defer s.Release()
	c, f := x.begin(s, &q)
	if f != nil {
		x.log(s, &q, nil, f)
		return f
	}
	if x.answer(c) {
		x.log(s, &q, c.result, c.outcome())
	} else {
		s.Cancel(c.id)
		x.log(s, &q, nil, clientGone(x.r.Context()))
	}
	return nil
}

// toolCall reads the request.
func (x *exchange) toolCall() (q toolCall, f *Failure) {
	p, f := x.read("server", "tool", "arguments")
	if f != nil {
		return q, f
	}
	q.correlation, q.kept = x.correlation, x.kept
	q.progress = httpheader.AcceptsAny(x.r.Header, httpheader.EventStream)
	if q.server, f = p.text("server"); f != nil {
		return q, f
	}
	if q.tool, f = p.text("tool"); f != nil {
		return q, f
	}
	if q.server == "" || q.tool == "" {
		return q, fail(BadRequest, `the request needs "server" and "tool"; GET /tools lists them`)
	}
	q.arguments, f = p.object("arguments")
	return q, f
}

// begin begins a call, unless the request is wrong.
func (b *Bridge) begin(s *session, q *toolCall) (*call, *Failure) {
	c := &call{correlation: q.correlation, kept: q.kept, tool: s.Router.FindTool(q.server, q.tool)}
	name := q.server + ":" + q.tool // no tool has this name: the router refuses the call, audits it and suggests names
	if c.tool != nil {
		name = c.tool.Name
		if c.tool.Verdict == catalog.Active {
			if f := b.schemas.check(c.tool.Entry, q.arguments); f != nil {
				s.Router.Misfit(c.tool.Entry, q.correlation, q.arguments)
				return nil, f
			}
		}
	} else if f := unavailable(s, q.server); f != nil {
		return nil, f
	}
	if q.progress {
		c.progress = make(chan []byte, maxProgress)
	}
	return s.begin(c, mcpwire.ToolsCall, jsonrpc.Param{Key: "name", Value: jsonrpc.AppendQuoted(nil, name)},
		jsonrpc.Param{Key: "arguments", Value: q.arguments}), nil
}

// answer answers the request with the outcome of its call. It returns false if the client has disconnected.
func (x *exchange) answer(c *call) bool {
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
			return s.end() == nil
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

// A stream is the response to a call: JSON or, if the client accepts progress, server-sent events: progress,
// and at the end result or error. An error before any progress is JSON with its status in any case.
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
	if f := s.c.outcome(); f != nil {
		return s.fail(f)
	}
	text := s.c.answer()
	if s.c.progress == nil {
		writeText(s.w, http.StatusOK, text, s.c.kept)
		return nil
	}
	if err := s.c.kept.Take(len(text)); err != nil {
		return s.fail(failureFor(err))
	}
	return s.send("result", text)
}

func (s *stream) progress(params []byte) error {
	defer s.c.kept.Give(len(params))
	return s.send("progress", params)
}

// fail ends the stream with a failure.
func (s *stream) fail(f *Failure) error {
	if !s.out.Begun() {
		writeFailure(s.w, f, s.c.correlation)
		return nil
	}
	text, err := encode(failed{f, s.c.correlation})
	if err != nil {
		return err
	}
	return s.send("error", text)
}

func (s *stream) send(event string, data []byte) error {
	return s.out.Write(httpbody.AppendEvent(nil, event, bytes.TrimSuffix(data, []byte{'\n'})))
}
