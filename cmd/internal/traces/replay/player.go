package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolman/cmd/internal/traces/compare"
	"toolman/cmd/internal/traces/dialog"
	"toolman/cmd/internal/traces/recording"
	"toolman/jsonrpc"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
)

// Options choose what a replay does.
type Options struct {
	Yes     bool           // call tools that are not read-only, too
	Rules   *compare.Rules // for responses
	Timeout time.Duration  // of each response
}

// A player replays a session. All of it runs on one goroutine.
type player struct {
	ctx     context.Context
	session *recording.Session
	options Options
	conn    *dialog.Conn
	report  *Report

	outcomes map[*recording.Call]*Outcome
	sent     map[*recording.Call]*request
	open     []*request          // without a response, in order
	byID     map[string]*request // of the new server
	lastID   int
	links    links
	asks     []*ask
	tools    tools
	waits    []*wait // for notifications of the server
	greeted  bool    // initialize was sent
	answers  bool    // the server has sent something
	ended    string  // why the server sends nothing more; "": it may
}

// A request is one that was sent to the new server.
type request struct {
	call   *recording.Call // nil: replay's own
	id     string
	at     time.Time
	done   bool
	result json.RawMessage // nil: an error, or no response
	failed bool            // there is an error or no response
}

// Run replays a session over conn, and returns how it went. It returns an error only if ctx ended.
func Run(ctx context.Context, s *recording.Session, conn *dialog.Conn, o Options) (*Report, error) {
	p := &player{ctx: ctx, session: s, options: o, conn: conn, report: &Report{Session: s},
		outcomes: make(map[*recording.Call]*Outcome), sent: make(map[*recording.Call]*request), byID: make(map[string]*request),
		links: make(links)}
	p.tools.recorded = recordedTools(s)
	for _, c := range s.Calls {
		if c.Request.Method == string(mcpwire.Ping) && !c.FromClient() {
			continue
		}
		p.outcomes[c] = &Outcome{Call: c}
		p.report.Outcomes = append(p.report.Outcomes, p.outcomes[c])
		if !c.FromClient() {
			p.asks = append(p.asks, &ask{call: c})
		}
	}
	for _, m := range s.Messages {
		if !m.FromClient() && m.Kind == trace.Notification && awaited(m.Method) {
			p.waits = append(p.waits, &wait{method: m.Method, at: m.At})
		}
	}
	p.play()
	p.report.Ignored = o.Rules.Ignored()
	return p.report, ctx.Err()
}

func (p *player) play() {
	p.greet()
	for _, m := range p.session.Messages {
		switch {
		case !m.FromClient():
		case m.Kind == trace.Request:
			p.request(m.Call)
		case m.Kind == trace.Notification:
			p.notification(m)
		}
	}
	p.finish()
}

// greet opens the session if the recording does not show how: it began before.
func (p *player) greet() {
	for _, c := range p.session.Calls {
		if !c.FromClient() {
			continue
		}
		if c.Request.Method == string(mcpwire.Initialize) || recording.MetaOf(c.Request.Params)[mcpwire.KeyVersion] != nil {
			return
		}
	}
	hello := fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"roots":{},"sampling":{},"elicitation":{}},"clientInfo":{"name":"toolman trace replay","version":"1"}}`, mcpwire.Latest)
	p.own(string(mcpwire.Initialize), json.RawMessage(hello))
	p.conn.Notify(string(mcpwire.Initialized), nil)
}

// request sends a request of the recording, or notes why not.
func (p *player) request(c *recording.Call) {
	p.before(c.Request.At)
	params, why := p.prepare(c)
	if p.ended != "" && why == "" {
		p.fail(c, p.ended)
		return
	}
	if why != "" {
		*p.outcomes[c] = Outcome{Call: c, State: NotSent, Why: why}
		return
	}
	r, err := p.send(c, c.Request.Method, params)
	if err != nil {
		p.fail(c, err.Error())
		return
	}
	p.sent[c] = r
}

// prepare returns the params to send, or why the request is not sent.
func (p *player) prepare(c *recording.Call) (params json.RawMessage, why string) {
	m := c.Request
	if why := m.Problem(); why != "" {
		return nil, why
	}
	switch mcpwire.Method(m.Method) {
	case mcpwire.Initialize:
		if p.greeted {
			return nil, "the session has been initialized before; the trace is of several clients"
		}
		p.greeted = true
	case mcpwire.ToolsCall:
		if why := p.mayCall(c); why != "" {
			return nil, why
		}
	}
	return p.linked(c)
}

func (p *player) send(c *recording.Call, method string, params json.RawMessage) (*request, error) {
	p.lastID++
	r := &request{call: c, id: strconv.Itoa(p.lastID), at: time.Now()}
	if err := p.conn.Request(r.id, method, params); err != nil {
		return nil, err
	}
	p.byID[r.id] = r
	p.open = append(p.open, r)
	return r, nil
}

// own makes a request that is not in the recording, and waits for its result.
func (p *player) own(method string, params json.RawMessage) json.RawMessage {
	r, err := p.send(nil, method, params)
	if err != nil {
		return nil
	}
	p.settle(r)
	return r.result
}

// notification sends a notification of the client. Progress is about requests of the server.
func (p *player) notification(m *recording.Message) {
	switch {
	case m.Method == recording.Progress || m.Problem() != "" || p.ended != "":
	case !strings.HasPrefix(m.Method, "notifications/"): // a server could take a tools/call without an ID for a call
	case m.Method == recording.Cancelled:
		p.before(m.At)
		if r := p.sent[m.Call]; m.Call != nil && r != nil && !r.done {
			var params map[string]json.RawMessage
			if json.Unmarshal(m.Params, &params) == nil {
				params["requestId"] = json.RawMessage(r.id)
				p.conn.Notify(m.Method, object(params))
			}
			p.forget(r)
		}
	default:
		if p.before(m.At); p.ended == "" {
			p.conn.Notify(m.Method, m.Params)
		}
	}
}

func (p *player) fail(c *recording.Call, why string) {
	*p.outcomes[c] = Outcome{Call: c, State: Failed, Why: why}
}

func (p *player) event(e *dialog.Event) {
	p.answers, p.report.closed = true, e.End != nil
	switch {
	case errors.Is(e.End, io.EOF):
		p.ended = "the server has ended"
	case e.End != nil:
		p.ended = "the connection to the server has ended: " + e.End.Error()
	case e.Kind == jsonrpc.Response:
		p.response(e)
	case e.Kind == jsonrpc.Request:
		p.answer(e)
	case e.Kind == jsonrpc.Notification:
		for _, w := range p.waits {
			if !w.over && w.method == e.Method {
				w.over = true
				break
			}
		}
		switch e.Method {
		case recording.Acknowledged:
			p.acknowledged(e)
		case string(mcpwire.ToolsListChanged):
			p.tools.asked, p.tools.now = false, nil // what only read may write now
		}
	default:
		if p.report.Stray++; p.report.Stray == 1 {
			p.report.Sample = e.Stray
		}
	}
}

// response compares a response with the recorded one.
func (p *player) response(e *dialog.Event) {
	r := p.byID[e.ID]
	if r == nil {
		return
	}
	p.forget(r)
	r.result, r.failed = e.Result, e.Error != nil
	if r.call == nil {
		return
	}
	c, took := r.call, time.Since(r.at)
	o := p.outcomes[c]
	*o = Outcome{Call: c, State: Equal, Took: took}
	if c.Request.Method == string(mcpwire.ToolsList) {
		p.tools.learn(e.Result)
	}
	switch {
	case c.Response == nil && c.Cancel != nil:
		o.State, o.Why = NotCompared, "it was cancelled"
	case c.Response == nil:
		o.State, o.Why = NotCompared, "the recording has no response"
	case c.Response.Trunc || c.Response.Msg == nil:
		if was, is := c.Response.Status, recording.StatusOf(e.Result, e.Error); (was == trace.StatusRPCError || was == trace.StatusToolError) != (is != trace.StatusOK) {
			o.State, o.Why = Failed, "the status is "+is+"; it was "+was
		}
	default:
		p.links.learn(c.Response.Result, e.Result)
		if o.Differences = p.options.Rules.Responses(c.Response.Result, c.Response.Error, e.Result, e.Error); len(o.Differences) > 0 {
			o.State = Differs
		}
	}
}

// acknowledged compares the acknowledgement of a subscription, which stands for its response: that
// comes when the session ends.
func (p *player) acknowledged(e *dialog.Event) {
	r := p.byID[string(recording.Subscription(e.Params))]
	if r == nil || r.call == nil {
		return
	}
	for _, m := range r.call.Script {
		if m.Method == recording.Acknowledged {
			o := p.outcomes[r.call]
			o.State, o.Why = Equal, ""
			if o.Differences = p.options.Rules.Values("params", m.Params, e.Params); len(o.Differences) > 0 {
				o.State = Differs
			}
		}
	}
}

// finish waits for what has not come yet.
func (p *player) finish() {
	for _, r := range append([]*request(nil), p.open...) {
		if r.call != nil && r.call.Response != nil && r.call.Request.Method != recording.Listen {
			p.settle(r)
		}
	}
	until := time.Now().Add(grace)
	for _, a := range p.asks {
		o := p.outcomes[a.call]
		switch {
		case a.asked:
		case !p.wasPossible(a):
			o.State, o.Why = NotSent, "the call in which the server asked was not sent"
		case a.late || !p.until(time.Until(until), func() bool { return a.asked }):
			o.State, o.Why = Failed, "the server did not ask"
		}
	}
	for _, o := range p.report.Outcomes {
		if o.State == Unknown {
			o.State, o.Why = unanswered(o.Call)
		}
	}
}

// unanswered says what becomes of a call without a response.
func unanswered(c *recording.Call) (State, string) {
	switch {
	case c.Cancel != nil:
		return NotCompared, "it was cancelled"
	case c.Request.Method == recording.Listen && slices.ContainsFunc(c.Script, func(m *recording.Message) bool { return m.Method == recording.Acknowledged }):
		return Failed, "the server did not acknowledge it"
	case c.Request.Method == recording.Listen:
		return NotCompared, "it lasts as long as the session"
	}
	return NotCompared, "the recording has no response"
}
