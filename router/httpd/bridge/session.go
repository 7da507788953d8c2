package bridge

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/budget"
	"toolman/router/client"
	"toolman/router/httpd/presence"
	"toolman/router/view"
)

// A session is the router.Session of a caller. It implements its peer.Sender, client.Streams and
// client.CallObserver.
type session struct {
	*presence.Session[*session, *call]
	temporary bool // for one list of tools; it starts no servers

	start sync.Once
	ready *call // answered when the servers have started
}

// newSession is presence.Front.New. Temporary sessions have no key.
func (b *Bridge) newSession(p *presence.Session[*session, *call], key any) *session {
	s := &session{Session: p, temporary: key == nil}
	client := s.Caller.Client
	client.Sole, client.Many, client.AllActive, client.Recorded = false, true, !b.o.ActiveOnly, p.Recorded()
	client.Static, client.MetaTools = "http.bridge_active_only", &view.MetaTools{NoActivate: true} // programs cannot call toolman's own tools
	client.Lists = cmp.Or(client.Lists, "GET /tools")
	s.Router = b.r.NewSession(s, client)
	return s
}

// session acquires the session of a caller, and waits until its servers have started.
func (b *Bridge) session(ctx context.Context, who *presence.Caller) (*session, error) {
	s, err := b.sessions.AcquireOrNew(ctx, who.Key(), who)
	if err != nil {
		return nil, failureFor(err)
	}
	return s.whenReady(ctx)
}

// view is session for a request that must not start servers: a caller without a session gets a
// temporary one.
func (b *Bridge) view(ctx context.Context, who *presence.Caller) (*session, error) {
	if s := b.sessions.Acquire(who.Key(), who); s != nil {
		return s.whenReady(ctx)
	}
	select {
	case <-b.r.Started():
		return b.sessions.Temporary(who), nil
	case <-ctx.Done():
		return nil, clientGone(ctx)
	}
}

// whenReady waits until the session's servers have started.
func (s *session) whenReady(ctx context.Context) (*session, error) {
	s.start.Do(func() { s.ready = s.begin(&call{}, mcpwire.PromptsList) })
	select {
	case <-s.ready.done:
		return s, nil
	case <-ctx.Done():
		s.Release()
		return nil, clientGone(ctx)
	}
}

// notStarted returns the failure of a request for the tools of a server, or of all servers if that
// is "", one of which the session would have to start; nil if there is none.
func (s *session) notStarted(server string) error {
	if !s.temporary {
		return nil
	}
	name := s.Router.Unstarted(server)
	if name == "" {
		return nil
	}
	return fail(WrongMethod, fmt.Sprintf("server %s runs separately for each client, and GET does not start it: send POST /tools with the same query", sanitize.Cut(name, maxShown)))
}

// Disconnect begins to end the session: its requests fail.
func (s *session) Disconnect() { go s.End(nil) }

// ended is presence.Front.Ended.
func (s *session) ended(open []*call, why error) {
	failure := fail(Unavailable, "toolman is ending, or the session has ended, before the answer came")
	if why != nil && why != presence.ErrMoved {
		failure = failureFor(why)
	}
	for _, c := range open {
		c.end(nil, failure)
	}
}

// maxProgress is the number of progress notifications that wait for a slow client. Others are
// dropped.
const maxProgress = 64

// A call is a request of a session to the router. It is the peer.Sender for the progress of the
// request.
type call struct {
	id          string // a JSON string that ends in the correlation ID, which the trace shows
	correlation string
	tool        *client.FoundTool // nil: there is none, or the request is not a tool call
	kept        *budget.Reader    // counts the bytes that are kept for it; may be nil
	progress    chan []byte       // params of progress notifications; nil if the client does not want them
	done        chan struct{}     // closed when it is answered

	reason  atomic.Pointer[client.Reason] // set if toolman itself answers
	ending  sync.Once
	result  []byte // written before done is closed
	failure error  // written before done is closed
}

// Requests are of the modern era. They declare no capabilities, because a program cannot answer
// questions.
const (
	envelope = `{"` + mcpwire.KeyVersion + `":"` + mcpwire.Newest + `","` + mcpwire.KeyCapabilities + `":{},"` +
		mcpwire.KeyClientInfo + `":{"name":"toolman-bridge","version":"1"}`
	progressToken = `,"progressToken":`
)

// begin sends a request to the router. When the answer is there, c.done is closed.
func (s *session) begin(c *call, method mcpwire.Method, params ...jsonrpc.Param) *call {
	c.done = make(chan struct{})
	_, err := s.Open(`"`+c.correlation+`"`, nil, func(id string) *call {
		c.id = id
		return c
	})
	if err != nil {
		c.end(nil, failureFor(err))
		return c
	}
	meta := []byte(envelope)
	if c.progress != nil {
		meta = append(append(meta, progressToken...), c.id...)
	}
	var m jsonrpc.Message
	m.Build([]byte(c.id), string(method), append(params, jsonrpc.Param{Key: "_meta", Value: append(meta, '}')})...)
	var out peer.Outgoing
	s.Router.Call(&m, c.tool, &out)
	out.Flush()
	return c
}

// end sets the outcome of the call, unless it has one already.
func (c *call) end(result []byte, err error) {
	c.ending.Do(func() {
		c.result, c.failure = result, err
		close(c.done)
	})
}

// outcome returns the failure of a call that has been answered; nil if it has succeeded.
func (c *call) outcome() error {
	if c.failure != nil {
		return c.failure
	}
	m := jsonrpc.Message{Frame: c.result, Result: jsonrpc.Span{Hi: len(c.result)}}
	if r, err := mcpwire.ResultOf(&m); err == nil && r.ResultType(&m) == mcpwire.ResultInputRequired {
		return fail(UpstreamError, "the server needs input from a person, which this API cannot ask for; call the tool through MCP")
	}
	return nil
}

// wait waits for the answer to a call.
func (s *session) wait(ctx context.Context, c *call) ([]byte, error) {
	select {
	case <-c.done:
		return c.result, c.outcome()
	case <-ctx.Done():
		s.Cancel(c.id, c)
		return nil, clientGone(ctx)
	}
}

// Queue implements peer.Sender. Progress is passed on, other messages are dropped.
func (c *call) Queue(frame []byte, edits []jsonrpc.Edit) error {
	var m jsonrpc.Message
	whole := jsonrpc.AppendSplice(nil, frame, edits...)
	if jsonrpc.Scan(whole, &m) != nil || string(m.Text(m.Method)) != string(mcpwire.Progress) {
		return nil
	}
	params := m.Bytes(m.Params)
	if c.kept.Take(len(params)) != nil {
		return nil
	}
	select {
	case c.progress <- params:
	default:
		c.kept.Give(len(params))
	}
	return nil
}

// Flush implements peer.Sender.
func (c *call) Flush() {}

// Queue implements peer.Sender.
func (s *session) Queue(frame []byte, edits []jsonrpc.Edit) error {
	var m jsonrpc.Message
	err := jsonrpc.Scan(frame, &m)
	if err == nil {
		return s.QueueMessage(&m, edits)
	}
	if c := s.Close(m.Bytes(m.ID)); c != nil { // toolman has added levels to what the server wrote
		c.end(nil, fail(UpstreamError, "the answer cannot be passed on: "+err.Error()))
	}
	return nil
}

// QueueMessage implements peer.Reader. Answers go to their calls. Other messages are for MCP
// clients.
func (s *session) QueueMessage(m *jsonrpc.Message, edits []jsonrpc.Edit) error {
	var answer jsonrpc.Message
	if m.Kind != jsonrpc.Response {
		return nil
	}
	if err := m.Spliced(&answer, make([]byte, 0, len(m.Frame)+64), edits...); err != nil {
		return err
	}
	c := s.Close(answer.Bytes(answer.ID))
	if c == nil {
		return nil // it was cancelled
	}
	switch reason := c.reason.Load(); {
	case reason != nil:
		c.end(nil, failureOf(reason))
	case answer.Err.Present():
		c.end(nil, upstreamError(m)) // without the edits: a program gets the code that the server chose
	default:
		if err := c.kept.Take(len(answer.Frame)); err != nil {
			c.end(nil, fail(UpstreamError, "the server has answered, but "+err.Error()))
			break
		}
		c.end(answer.Bytes(answer.Result), nil)
	}
	return nil
}

// Flush implements peer.Sender.
func (s *session) Flush() {}

// During implements client.Streams.
func (s *session) During(id []byte) peer.Sender {
	if c := s.Find(id); c != nil && c.progress != nil {
		return c
	}
	return nil
}

// Correlation implements client.CallObserver.
func (s *session) Correlation(id []byte) string {
	if c := s.Find(id); c != nil {
		return c.correlation
	}
	return ""
}

// LocalReply implements client.CallObserver.
func (s *session) LocalReply(id []byte, why client.Reason) {
	if c := s.Find(id); c != nil {
		c.reason.Store(&why)
	}
}

var (
	_ client.Streams      = (*session)(nil)
	_ client.CallObserver = (*session)(nil)
)
