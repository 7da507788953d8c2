package router

import (
	"cmp"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"toolman/router/metatool"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/budget"
	"toolman/router/policy"
	"toolman/router/tracing"
	"toolman/router/view"
)

// A Session is one connected client. It is the jsonrpc.Handler of the client's
// peer; the client's messages are handled in the order they came.
type Session struct {
	r              *Router
	who            Client
	label          string // what the audit log calls it
	policy         *policy.Policy
	offers         view.MetaTools            // which of toolman's own tools it has
	meta           map[string]*metatool.Tool // and those among them that are about toolsets
	out            jsonrpc.Sender
	batches        atomic.Pointer[jsonrpc.Gatherer] // to out, from the first batch of requests on
	streams        Streams                          // nil: all goes to out
	ledger         Ledger                           // nil: there is none
	checker        CallChecker                      // nil: there is none
	log            *zap.Logger
	view           atomic.Pointer[view.View]
	serverRequests jsonrpc.Calls[serverRequest]
	gone           chan struct{} // closed when the client has closed its side
	err            error         // why; written before gone is closed

	calledName atomic.Pointer[string] // what the log and the trace call it

	mu                   sync.Mutex
	upstreams            []*Upstream                   // guarded by mu: its servers, in the order of the file
	waits                int                           // guarded by mu: servers of its own that requests wait for
	leased               []*Upstream                   // guarded by mu: processes for one call at a time
	releasing            bool                          // guarded by mu: those are being ended
	without              map[*Upstream]error           // guarded by mu: servers that it cannot have, and why
	hello                *mcpwire.Hello                // guarded by mu: nil until initialize
	revision             string                        // guarded by mu: what was agreed on with it
	clientMeta           *mcpwire.Claim                // guarded by mu: what modern servers are told of that client
	ready                bool                          // guarded by mu: the client takes requests and notifications
	queuedServerRequests []queuedServerRequest         // guarded by mu: questions of servers that wait for the client to be ready
	request              request                       // guarded by mu: the storage of the request being handled
	sawModern            bool                          // guarded by mu: there was a modern request
	parked               []parked                      // guarded by mu: requests that wait for the upstreams
	background           *backgroundTask               // guarded by mu: what is done apart, nil for nothing
	pendingLogLevels     []*pendingLogLevel            // guarded by mu: those that wait for servers
	level                []byte                        // guarded by mu: params of the last logging/setLevel
	levelName            string                        // guarded by mu: and the level in them
	pendingReplies       []*pendingReply               // guarded by mu: replies that wait for the client to list again
	rounds               []*inputRound                 // guarded by mu: calls that wait for what modern servers ask
	static               bool                          // guarded by mu: the client was seen not to list again
	listens              []*listen                     // guarded by mu: subscriptions of the modern era
	suspensions          suspensions                   // guarded by mu: calls of the modern era that wait for answers
	permits              permits                       // guarded by mu: what a modern client may come back for with a dangerous tool
	routeCache           routeCache                    // guarded by mu
	subs                 map[subscription]string       // guarded by mu: the client's spelling of each URI
	follows              map[*Upstream]map[string]bool // guarded by mu: the URIs that toolman has subscribed to for it
	tasks                tasks                         // guarded by mu: those that upstreams do for the client
	tokens               tokens                        // guarded by mu: the client's progress tokens of those
	clientTasks          tasks                         // guarded by mu: those that the client does for upstreams
	retained             int                           // guarded by mu: bytes of who.Account that the session keeps
	ended                bool                          // guarded by mu: it keeps none any more
}

// retainLocked takes bytes from the client's account for something that is kept. The error is a
// *budget.LimitError.
func (s *Session) retainLocked(n int) error {
	if s.ended {
		return nil
	}
	if err := s.who.Account.Take(budget.Bytes, int64(n)); err != nil {
		return err
	}
	s.retained += n
	return nil
}

// freeLocked gives back bytes for what is kept no more.
func (s *Session) freeLocked(n int) {
	if !s.ended {
		s.retained -= n
		s.who.Account.Give(budget.Bytes, int64(n))
	}
}

// freeAllLocked gives back all bytes: the session has ended.
func (s *Session) freeAllLocked() {
	s.freeLocked(s.retained)
	s.ended = true
}

// Message implements jsonrpc.Handler.
func (s *Session) Message(m *jsonrpc.Message, b *jsonrpc.Batch) {
	s.mu.Lock()
	switch m.Kind {
	case jsonrpc.Request:
		req := &s.request
		req.Message, req.out, req.arrivedAt, req.traceID, req.decision = m, b, 0, 0, nil
		if s.r.timed.Load() {
			req.arrivedAt = s.r.clock.now()
		}
		s.requestLocked(req)
	case jsonrpc.Notification:
		s.notificationLocked(m, b)
	case jsonrpc.Response:
		s.answerLocked(m, b)
	}
	s.mu.Unlock()
}

// Bad implements jsonrpc.Handler. The connection lives on.
func (s *Session) Bad(m *jsonrpc.Message, err error, b *jsonrpc.Batch) {
	if !s.batch(m.Frame, b) {
		s.bad(m, err, b)
	}
}

func (s *Session) bad(m *jsonrpc.Message, err error, b *jsonrpc.Batch) {
	s.r.trace.Bad(tracing.Client, s.name(), m.Frame, err)
	if s.malformedAnswer(m, err, b) || isResponse(m) {
		return // a response has no answer
	}
	code := int64(jsonrpc.CodeInvalidRequest)
	if syntax, ok := errors.AsType[*jsonrpc.SyntaxError](err); ok && !syntax.Deep {
		code = jsonrpc.CodeParseError
	}
	s.send(b, mcpwire.AppendFailure(nil, idOfBad(m, err), "", code, err.Error()+"; this message was ignored"), tracing.Note{ID: s.r.trace.Next()})
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
func (s *Session) malformedAnswer(m *jsonrpc.Message, err error, b *jsonrpc.Batch) bool {
	id, found := answers(m, err)
	if !found {
		return false
	}
	q, ok := s.serverRequests.Take(id)
	if ok {
		s.mu.Lock()
		s.unansweredLocked(&q, "the client's answer could not be passed on: "+err.Error(), b)
		s.mu.Unlock()
	}
	return ok
}

// Closed implements jsonrpc.Handler: the client has closed its side.
func (s *Session) Closed(err error) {
	if err != nil && !errors.Is(err, io.EOF) {
		s.log.Info("client gone", zap.NamedError("err", err))
	}
	var b jsonrpc.Batch
	s.mu.Lock()
	s.static = true
	for _, h := range s.pendingReplies {
		s.releaseLocked(h, &b)
	}
	s.endListensLocked(&b)
	s.endSuspensionsLocked(&b)
	for _, q := range s.serverRequests.Drain() {
		s.unansweredLocked(&q, "the client is gone", &b)
	}
	s.mu.Unlock()
	b.Flush()
	s.err = err
	close(s.gone)
}

// Gone is closed when the client has closed its side of the connection.
func (s *Session) Gone() <-chan struct{} { return s.gone }

// Broken reports, once Gone is closed, whether the client cannot be told anything
// any more either.
func (s *Session) Broken() bool { return !errors.Is(s.err, io.EOF) }

// name is how the client calls itself.
func (s *Session) name() string {
	if name := s.calledName.Load(); name != nil {
		return *name
	}
	return cmp.Or(s.who.Name, "client")
}

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
	case s.hello == nil:
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
	if !s.openLocked() || s.background != nil || len(s.parked) > 0 {
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
func (s *Session) answerLocked(m *jsonrpc.Message, b *jsonrpc.Batch) {
	id, ok := jsonrpc.ParseID(m.Bytes(m.ID))
	var q serverRequest
	if ok {
		q, ok = s.serverRequests.Take(id)
	}
	if !ok {
		s.r.trace.Orphan(tracing.Client, s.name(), m)
		return
	}
	if q.round != nil {
		s.answeredLocked(&q, m, b)
		return
	}
	if task := mcpwire.CreatedTask(m); q.task && task != nil {
		s.clientTasks.add(task, q.from)
	}
	q.from.answer(&q, m, b)
}
