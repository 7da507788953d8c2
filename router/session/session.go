package session

import (
	"bytes"
	"context"
	"errors"
	"io"

	"toolman/jsonrpc/peer"
	"toolman/router/apps"
	"toolman/router/breakpoint"
	"toolman/router/builtin"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/confirm"
	"toolman/router/input"
	"toolman/router/loglevel"
	"toolman/router/metatool"
	"toolman/router/policy"
	"toolman/router/upstream"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/pool"
	"toolman/router/subscribe"
	"toolman/router/tracing"
	"toolman/router/view"
)

// A Session is one connected client. It is the peer.Handler of the client's peer and handles the
// client's messages in the order in which they arrived.
type Session struct {
	client.Conn
	env    *Env
	closed closed

	request       client.Request    // guarded by Mu: the request being handled
	routeCache    routeCache        // guarded by Mu
	servers       pool.Servers      // guarded by Mu
	waiting       client.Waiting    // guarded by Mu
	own           builtin.Items     // guarded by Mu
	levels        loglevel.Levels   // guarded by Mu
	input         input.Requests    // guarded by Mu
	confirmer     confirm.Confirmer // guarded by Mu
	subscriptions subscribe.Set     // guarded by Mu
	later         *later            // guarded by Mu: what is to be done when the servers have started; nil: nothing
	pages         *apps.Opened      // guarded by Mu: the servers whose pages the client may show; nil: none
	tasks         subscribe.Tasks   // guarded by Mu
}

// later is what is to be done when the servers have started.
type later struct {
	unrestored []string   // URIs of subscriptions of the session's record
	listed     *view.View // what the client may have listed before the session waited for dedicated servers; nil: nothing
}

// closed records when and why the client has closed its side of the connection.
type closed struct {
	done chan struct{} // closed when the client has closed its side
	err  error         // written before done is closed
}

// An Env contains what all sessions of a router share.
type Env struct {
	Version string          // of toolman
	Context context.Context // ends when the router closes
	Builtin *builtin.Settings
	Client  client.Env
	Signer  *input.Signer
	Pool    *pool.Pool
	Host    sessionHost
	Gate    func(*Session) *breakpoint.Gate // returns what a session's messages come through; nil: there is nothing
}

// A sessionHost is what sessions need of their router.
type sessionHost interface {
	builtin.Host
	// Scrub returns the function that hides the configured secrets, or nil if there are none.
	Scrub() func(text string) string
	// Greet sends the client's capabilities to the servers.
	Greet(hello mcpwire.Hello)
	// StartView returns a client's view before any activation. shared is the catalog of the shared
	// servers, and servers are those of the session.
	StartView(shared *catalog.Catalog, servers []*upstream.Upstream, p *policy.Policy, info client.Info) *view.View
	// Refresh gives the session the current catalog.
	Refresh(s *Session, announce bool)
	// Ended is called when a session has ended.
	Ended(s *Session)
}

// New returns a new session. out receives the messages to the client; it may implement
// client.Streams, client.CallObserver and client.CallChecker. offers are the groups of toolman's
// own tools that the client is offered, and tools are the toolset tools.
func New(env *Env, out peer.Sender, info client.Info, p *policy.Policy, servers []*upstream.Upstream, offers view.MetaTools, tools map[string]*metatool.Tool) *Session {
	s := &Session{env: env, closed: closed{done: make(chan struct{})}}
	s.Conn.Init(out, info, env.Client)
	s.Policy, s.Caller = p, s
	s.waiting = client.Waiting{Conn: &s.Conn, Context: env.Context, Serve: s.serveWhenReadyLocked}
	s.own = builtin.Items{Servers: &s.servers, Settings: env.Builtin, Offers: offers, Tools: tools,
		Subscriptions: &s.subscriptions, Waiting: &s.waiting, Route: s.routeLocked}
	s.levels = loglevel.Levels{Servers: &s.servers}
	s.subscriptions = subscribe.Set{Servers: &s.servers}
	s.tasks = subscribe.Tasks{Conn: &s.Conn}
	s.input.Init(&s.Conn, &s.tasks, env.Signer)
	s.confirmer = confirm.New(&s.Conn, &s.input, env.Host.Scrub, s.forwardConfirmedLocked)
	s.servers = pool.Servers{Conn: &s.Conn, Pool: env.Pool, OnSettled: s.dedicatedSettled, All: servers}
	return s
}

// Entry returns the handler for the client's messages: the Gate before the session, or the session
// itself.
func (s *Session) Entry() peer.Handler {
	if s.env.Gate != nil {
		return s.env.Gate(s)
	}
	return s
}

// Message implements peer.Handler.
func (s *Session) Message(m *jsonrpc.Message, out *peer.Outgoing) {
	s.Mu.Lock()
	switch m.Kind {
	case jsonrpc.Request:
		s.beginLocked(m, nil, out)
	case jsonrpc.Notification:
		s.notificationLocked(m, out)
	case jsonrpc.Response:
		s.input.Answer(m, out)
	}
	s.Mu.Unlock()
}

// Call is Message for a tools/call of a tool that FindTool has found. Call looks up the tool again
// only if the session's view has changed since.
func (s *Session) Call(m *jsonrpc.Message, t *client.FoundTool, out *peer.Outgoing) {
	if s.env.Gate != nil {
		s.env.Gate(s).Message(m, out)
		return
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.beginLocked(m, t, out)
}

// beginLocked handles a request. tool is the called tool if it is already known, or nil.
func (s *Session) beginLocked(m *jsonrpc.Message, tool *client.FoundTool, out *peer.Outgoing) {
	s.own.Follow(out)
	req := &s.request
	req.Message, req.Tool, req.Out, req.ArrivedAt, req.TraceID, req.Decision = m, tool, out, 0, 0, nil
	if s.Clock.Timed() {
		req.ArrivedAt = s.Clock.Now()
	}
	s.requestLocked(req)
}

// requestLocked answers requests about the connection immediately. The other requests need the
// catalog and wait until it is ready.
func (s *Session) requestLocked(req *client.Request) {
	if err := mcpwire.CheckID(req.Message); err != nil {
		req.Method, req.Modern = mcpwire.MethodOf(req.Text(req.Message.Method)), false
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidRequest, Text: err.Error()})
		return
	}
	if at, ok := s.cachedRouteLocked(req); ok {
		s.forwardCachedLocked(req, at)
		return
	}
	req.Method = mcpwire.MethodOf(req.Text(req.Message.Method))
	if err := req.ReadEnvelope(); err != nil {
		if req.Modern {
			s.DeclineError(req, err)
		} else {
			s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidParams, Text: err.Error()})
		}
		return
	}
	if req.Modern {
		s.modernRequestLocked(req)
		return
	}
	switch req.Method {
	case mcpwire.Initialize:
		s.initializeLocked(req)
		return
	case mcpwire.Ping:
		s.Reply(req, []byte("{}"))
		return
	case mcpwire.SetLevel:
		s.levels.SetLocked(req)
		s.Tracker.Changed()
		return
	}
	switch {
	case s.Peer.Hello == nil:
		s.refuseWithoutSession(req)
	case !mcpwire.Known(req.Method):
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeMethodNotFound,
			Text: "toolman does not know the method " + sanitize.Short(string(req.Method))})
	default:
		s.input.ClientReady(req.Out)
		s.serveWhenReadyLocked(req)
	}
}

// serveWhenReadyLocked serves a request as soon as the catalog is ready.
func (s *Session) serveWhenReadyLocked(req *client.Request) {
	if !s.own.CatalogReady() || s.waiting.Blocks() {
		s.waiting.Add(req)
		return
	}
	s.serveLocked(req)
}

// serveLocked serves a request that needs the catalog.
func (s *Session) serveLocked(req *client.Request) {
	if req.Params.Present() && !req.IsObject(req.Params) {
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidParams, Text: "params must be an object"})
		return
	}
	switch req.Method {
	case mcpwire.ToolsList:
		s.own.List(req, mcpwire.Tool)
	case mcpwire.ResourcesList:
		s.own.List(req, mcpwire.Resource)
	case mcpwire.TemplatesList:
		s.own.List(req, mcpwire.Template)
	case mcpwire.PromptsList:
		s.own.List(req, mcpwire.Prompt)
	case mcpwire.ToolsCall, mcpwire.PromptsGet, mcpwire.ResourcesRead, mcpwire.Subscribe, mcpwire.Unsubscribe, mcpwire.Complete:
		s.routeLocked(req)
	case mcpwire.TasksGet, mcpwire.TasksResult, mcpwire.TasksCancel:
		s.routeTaskLocked(req)
	case mcpwire.Listen:
		s.subscriptions.Listen(req)
	}
}

// Bad implements peer.Handler. The connection stays open.
func (s *Session) Bad(m *jsonrpc.Message, err error, out *peer.Outgoing) {
	if !s.batch(m.Frame, out) {
		s.refuseBad(m, err, out)
	}
}

// batch handles a batch of messages, which exists only in revision 2025-03-26. The answers are also
// sent in one array. batch reports false if frame is not a batch that the session accepts.
func (s *Session) batch(frame []byte, out *peer.Outgoing) bool {
	elements := peer.Batch(frame)
	s.Mu.Lock()
	may := s.Peer.Revision == mcpwire.V2025_03_26 && len(elements) > 0
	if may && s.Front.Batches.Load() == nil {
		s.Front.Batches.Store(peer.NewBatchResponder(s.Front.Out))
	}
	s.Mu.Unlock()
	if !may {
		return false
	}
	var m jsonrpc.Message
	var ids [][]byte
	for _, at := range elements {
		switch err := jsonrpc.Scan(frame[at.Lo:at.Hi], &m); {
		case err != nil && !isResponse(&m):
			ids = append(ids, bytes.Clone(badID(&m, err)))
		case err == nil && m.Kind == jsonrpc.Request:
			ids = append(ids, bytes.Clone(m.Bytes(m.ID)))
		}
	}
	s.Front.Batches.Load().Expect(ids)
	for _, at := range elements {
		if err := jsonrpc.Scan(frame[at.Lo:at.Hi], &m); err != nil {
			s.refuseBad(&m, err, out)
		} else {
			s.Entry().Message(&m, out)
		}
	}
	return true
}

// refuseBad answers a message that could not be parsed.
func (s *Session) refuseBad(m *jsonrpc.Message, err error, out *peer.Outgoing) {
	s.Trace.Bad(tracing.Client, s.Name(), m.Frame, err)
	if s.input.MalformedAnswer(m, err, out) || isResponse(m) {
		return // a response has no answer
	}
	code := int64(jsonrpc.CodeInvalidRequest)
	if syntax, ok := errors.AsType[*jsonrpc.SyntaxError](err); ok && !syntax.Deep {
		code = jsonrpc.CodeParseError
	}
	s.Send(out, mcpwire.AppendFailure(mcpwire.Legacy, nil, badID(m, err), "", code, err.Error()+"; this message was ignored"), tracing.Note{ID: s.Trace.Next()})
}

// badID returns the request ID for the refusal of a message that could not be parsed, or null if it
// has none.
func badID(m *jsonrpc.Message, err error) []byte {
	if long, ok := errors.AsType[*jsonrpc.TooLongError](err); ok {
		if id, _ := long.Peek(); id != nil {
			return id
		}
	}
	if _, ok := errors.AsType[*jsonrpc.FormError](err); ok && m.HasID() {
		return m.Bytes(m.ID)
	}
	if id := jsonrpc.DeepID(m, err); id != nil {
		return id
	}
	return []byte("null")
}

// isResponse reports whether a message that could not be parsed was a response.
func isResponse(m *jsonrpc.Message) bool {
	return !m.Method.Present() && (m.Result.Present() || m.Err.Present())
}

// Closed implements peer.Handler. It is called when the client has closed its side.
func (s *Session) Closed(err error) {
	if err != nil && !errors.Is(err, io.EOF) {
		s.Log.Info("client disconnected", zap.NamedError("err", err))
	}
	s.WithLock(func(out *peer.Outgoing) {
		s.own.ReplyNow(out)
		s.subscriptions.EndListens(out)
		s.input.Close(out)
	})
	s.closed.err = err
	close(s.closed.done)
}

// Gone returns a channel that is closed when the client has closed its side of the connection.
func (s *Session) Gone() <-chan struct{} { return s.closed.done }

// Broken reports whether the session can no longer send to the client either. It is valid once Gone
// is closed.
func (s *Session) Broken() bool { return !errors.Is(s.closed.err, io.EOF) }
