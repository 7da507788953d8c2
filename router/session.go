package router

import (
	"errors"
	"io"

	"toolman/jsonrpc/peer"
	"toolman/router/metatool"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/tracing"
	"toolman/router/view"
)

// A Session is one connected client. It is the peer.Handler of the client's
// peer; the client's messages are handled in the order they came.
type Session struct {
	conn
	r       *Router
	builtin builtin
	closed  closed

	request       request       // guarded by mu: the storage of the request being handled
	routeCache    routeCache    // guarded by mu
	servers       servers       // guarded by mu
	waiting       waiting       // guarded by mu
	logLevel      logLevel      // guarded by mu
	input         input         // guarded by mu, but for serverRequests
	subscriptions subscriptions // guarded by mu
	tasks         sessionTasks  // guarded by mu
}

// A builtin is what the client is offered of toolman's own tools.
type builtin struct {
	offers view.MetaTools
	tools  map[string]*metatool.Tool // those about toolsets
}

// closed tells when and why the client has closed its side.
type closed struct {
	done chan struct{} // closed then
	err  error         // written before
}

// servers are those that the session uses.
type servers struct {
	all       []*Upstream         // in the order of the file
	awaited   int                 // servers of its own that requests wait for
	leased    []*Upstream         // processes for one call at a time
	releasing bool                // those are being ended
	missing   map[*Upstream]error // servers that it cannot have, and why
}

// waiting are requests that are answered later.
type waiting struct {
	parked     []parked        // until the servers have started
	background *backgroundTask // until this is done; nil: nothing is
	replies    []*pendingReply // until the client has listed again
}

// A logLevel is what the client wants to hear of servers' logs.
type logLevel struct {
	params  []byte             // of the last logging/setLevel
	name    string             // the level in them
	pending []*pendingLogLevel // requests that wait for servers
}

// An input is what servers, and toolman itself, want of the client during its calls.
type input struct {
	serverRequests jsonrpc.Pending[serverRequest] // that the client has not answered
	queued         []queuedServerRequest          // until the client is ready
	rounds         []*inputRound                  // calls that wait for what modern servers ask
	suspensions    suspensions                    // calls of the modern era that wait for answers
	permits        permits                        // retries that a modern client may make of calls of dangerous tools
}

// subscriptions are the client's, and those that toolman has made for it.
type subscriptions struct {
	listens []*listen                     // of the modern era
	subs    map[subscription]string       // with the client's spelling of each URI
	follows map[*Upstream]map[string]bool // the URIs that toolman has subscribed to for the client
}

// sessionTasks are the tasks of both sides.
type sessionTasks struct {
	upstream tasks  // that servers do for the client
	tokens   tokens // the client's progress tokens of those
	client   tasks  // that the client does for servers
}

// Message implements peer.Handler.
func (s *Session) Message(m *jsonrpc.Message, out *peer.Outgoing) {
	s.mu.Lock()
	switch m.Kind {
	case jsonrpc.Request:
		s.beginLocked(m, nil, out)
	case jsonrpc.Notification:
		s.notificationLocked(m, out)
	case jsonrpc.Response:
		s.answerLocked(m, out)
	}
	s.mu.Unlock()
}

// beginLocked handles a request. tool is what it calls, if that has been found already.
func (s *Session) beginLocked(m *jsonrpc.Message, tool *FoundTool, out *peer.Outgoing) {
	req := &s.request
	req.Message, req.tool, req.out, req.arrivedAt, req.traceID, req.decision = m, tool, out, 0, 0, nil
	if s.clock.Timed() {
		req.arrivedAt = s.clock.Now()
	}
	s.requestLocked(req)
}

// Bad implements peer.Handler. The connection lives on.
func (s *Session) Bad(m *jsonrpc.Message, err error, out *peer.Outgoing) {
	if !s.batch(m.Frame, out) {
		s.bad(m, err, out)
	}
}

func (s *Session) bad(m *jsonrpc.Message, err error, out *peer.Outgoing) {
	s.trace.Bad(tracing.Client, s.name(), m.Frame, err)
	if s.malformedAnswer(m, err, out) || isResponse(m) {
		return // a response has no answer
	}
	code := int64(jsonrpc.CodeInvalidRequest)
	if syntax, ok := errors.AsType[*jsonrpc.SyntaxError](err); ok && !syntax.Deep {
		code = jsonrpc.CodeParseError
	}
	s.send(out, mcpwire.AppendFailure(nil, idOfBad(m, err), "", code, err.Error()+"; this message was ignored"), tracing.Note{ID: s.trace.Next()})
}

// idOfBad is the id to refuse a message under that could not be read: null when it
// has none.
func idOfBad(m *jsonrpc.Message, err error) []byte {
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

// isResponse reports whether a message that could not be read was a response.
func isResponse(m *jsonrpc.Message) bool {
	return !m.Method.Present() && (m.Result.Present() || m.Err.Present())
}

// malformedAnswer answers an upstream's question whose answer could not be read.
func (s *Session) malformedAnswer(m *jsonrpc.Message, err error, out *peer.Outgoing) bool {
	id, found := answers(m, err)
	if !found {
		return false
	}
	q, ok := s.input.serverRequests.Take(id)
	if ok {
		s.mu.Lock()
		s.unansweredLocked(&q, "the client's answer could not be passed on: "+err.Error(), out)
		s.mu.Unlock()
	}
	return ok
}

// Closed implements peer.Handler: the client has closed its side.
func (s *Session) Closed(err error) {
	if err != nil && !errors.Is(err, io.EOF) {
		s.log.Info("client gone", zap.NamedError("err", err))
	}
	var out peer.Outgoing
	s.mu.Lock()
	s.peer.listsOnce = true
	for _, h := range s.waiting.replies {
		s.releaseLocked(h, &out)
	}
	s.endListensLocked(&out)
	s.endSuspensionsLocked(&out)
	for _, q := range s.input.serverRequests.Close() {
		s.unansweredLocked(&q, "the client is gone", &out)
	}
	s.mu.Unlock()
	out.Flush()
	s.closed.err = err
	close(s.closed.done)
}

// Gone is closed when the client has closed its side of the connection.
func (s *Session) Gone() <-chan struct{} { return s.closed.done }

// Broken reports, once Gone is closed, whether the client cannot be told anything
// any more either.
func (s *Session) Broken() bool { return !errors.Is(s.closed.err, io.EOF) }

// requestLocked answers what is toolman's own business at once, and leaves the
// rest until it is known what there is.
func (s *Session) requestLocked(req *request) {
	if err := mcpwire.CheckID(req.Message); err != nil {
		req.method, req.modern = mcpwire.MethodOf(req.Text(req.Method)), false
		s.refuse(req, refusal{code: jsonrpc.CodeInvalidRequest, text: err.Error()})
		return
	}
	if at, ok := s.cachedRouteLocked(req); ok {
		s.forwardCachedLocked(req, at)
		return
	}
	req.method = mcpwire.MethodOf(req.Text(req.Method))
	if err := req.readEnvelope(); err != nil {
		if req.modern {
			s.declineError(req, err)
		} else {
			s.refuse(req, refusal{code: jsonrpc.CodeInvalidParams, text: err.Error()})
		}
		return
	}
	if req.modern {
		s.modernLocked(req)
		return
	}
	switch req.method {
	case mcpwire.Initialize:
		s.initializeLocked(req)
		return
	case mcpwire.Ping:
		s.replyLocal(req, []byte("{}"))
		return
	case mcpwire.SetLevel:
		s.setLevelLocked(req)
		return
	}
	switch {
	case s.peer.hello == nil:
		s.outOfSession(req)
	case !mcpwire.Known(req.method):
		s.refuse(req, refusal{code: jsonrpc.CodeMethodNotFound,
			text: "toolman does not know the method " + sanitize.Short(string(req.method))})
	default:
		s.clientReadyLocked(req.out)
		s.whenOpenLocked(req)
	}
}

// whenOpenLocked serves a request as soon as the catalog is there.
func (s *Session) whenOpenLocked(req *request) {
	if !s.openLocked() || s.waiting.background != nil || len(s.waiting.parked) > 0 {
		s.parkLocked(req)
		return
	}
	s.serveLocked(req)
}

// serveLocked answers a request that needs the catalog.
func (s *Session) serveLocked(req *request) {
	if req.Params.Present() && !req.IsObject(req.Params) {
		s.refuse(req, refusal{code: jsonrpc.CodeInvalidParams, text: "params must be an object"})
		return
	}
	switch req.method {
	case mcpwire.ToolsList:
		s.listLocked(req, mcpwire.Tool)
	case mcpwire.ResourcesList:
		s.listLocked(req, mcpwire.Resource)
	case mcpwire.TemplatesList:
		s.listLocked(req, mcpwire.Template)
	case mcpwire.PromptsList:
		s.listLocked(req, mcpwire.Prompt)
	case mcpwire.ToolsCall, mcpwire.PromptsGet, mcpwire.ResourcesRead, mcpwire.Subscribe, mcpwire.Unsubscribe, mcpwire.Complete:
		s.routeLocked(req)
	case mcpwire.TasksGet, mcpwire.TasksResult, mcpwire.TasksCancel:
		s.routeTaskLocked(req)
	case mcpwire.Listen:
		s.listenLocked(req)
	}
}

// answerLocked passes the client's answer on to the upstream that asked.
func (s *Session) answerLocked(m *jsonrpc.Message, out *peer.Outgoing) {
	id, ok := jsonrpc.ParseID(m.Bytes(m.ID))
	var q serverRequest
	if ok {
		q, ok = s.input.serverRequests.Take(id)
	}
	if !ok {
		s.trace.Orphan(tracing.Client, s.name(), m)
		return
	}
	if q.round != nil {
		s.answeredLocked(&q, m, out)
		return
	}
	if task := mcpwire.CreatedTask(m); q.task && task != nil {
		s.tasks.client.add(task, q.from)
	}
	q.from.answer(&q, m, out)
}
