package router

import (
	"cmp"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"toolman/jsonrpc/peer"
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

// A Session is one connected client. It is the peer.Handler of the client's
// peer; the client's messages are handled in the order they came.
type Session struct {
	r       *Router
	who     Client
	label   string // what the audit log calls it
	policy  *policy.Policy
	front   front
	builtin builtin
	log     *zap.Logger
	view    atomic.Pointer[view.View]
	closed  closed

	mu            sync.Mutex    // held while one message of the client is handled
	request       request       // guarded by mu: the storage of the request being handled
	routeCache    routeCache    // guarded by mu
	peer          clientState   // guarded by mu, but for name
	servers       servers       // guarded by mu
	waiting       waiting       // guarded by mu
	logLevel      logLevel      // guarded by mu
	input         input         // guarded by mu, but for serverRequests
	subscriptions subscriptions // guarded by mu
	tasks         sessionTasks  // guarded by mu
	account       account       // guarded by mu
}

// A front is where the client's messages come from and where those for it go.
type front struct {
	out     peer.Sender
	batches atomic.Pointer[peer.BatchResponder] // to out, from the first batch of requests on
	streams Streams                             // nil: all goes to out
	ledger  Ledger                              // nil: there is none
	checker CallChecker                         // nil: there is none
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

// A clientState is what the client has said of itself.
type clientState struct {
	name      atomic.Pointer[string] // for the log and the trace
	hello     *mcpwire.Hello         // nil until initialize
	revision  string                 // what was agreed on
	meta      *mcpwire.Claim         // what modern servers are told of the client
	ready     bool                   // it takes requests and notifications
	modern    bool                   // it has sent a modern request
	listsOnce bool                   // it was seen not to list again
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

// An account is what the session keeps of its client's budget.
type account struct {
	retained int  // bytes of Client.Account
	ended    bool // it keeps none any more
}

// retainLocked takes bytes from the client's account for something that is kept. The error is a
// *budget.LimitError.
func (s *Session) retainLocked(n int) error {
	if s.account.ended {
		return nil
	}
	if err := s.who.Account.Take(budget.Bytes, int64(n)); err != nil {
		return err
	}
	s.account.retained += n
	return nil
}

// freeLocked gives back bytes for what is kept no more.
func (s *Session) freeLocked(n int) {
	if !s.account.ended {
		s.account.retained -= n
		s.who.Account.Give(budget.Bytes, int64(n))
	}
}

// freeAllLocked gives back all bytes: the session has ended.
func (s *Session) freeAllLocked() {
	s.freeLocked(s.account.retained)
	s.account.ended = true
}

// Message implements peer.Handler.
func (s *Session) Message(m *jsonrpc.Message, out *peer.Outgoing) {
	s.mu.Lock()
	switch m.Kind {
	case jsonrpc.Request:
		req := &s.request
		req.Message, req.out, req.arrivedAt, req.traceID, req.decision = m, out, 0, 0, nil
		if s.r.timed.Load() {
			req.arrivedAt = s.r.clock.now()
		}
		s.requestLocked(req)
	case jsonrpc.Notification:
		s.notificationLocked(m, out)
	case jsonrpc.Response:
		s.answerLocked(m, out)
	}
	s.mu.Unlock()
}

// Bad implements peer.Handler. The connection lives on.
func (s *Session) Bad(m *jsonrpc.Message, err error, out *peer.Outgoing) {
	if !s.batch(m.Frame, out) {
		s.bad(m, err, out)
	}
}

func (s *Session) bad(m *jsonrpc.Message, err error, out *peer.Outgoing) {
	s.r.trace.Bad(tracing.Client, s.name(), m.Frame, err)
	if s.malformedAnswer(m, err, out) || isResponse(m) {
		return // a response has no answer
	}
	code := int64(jsonrpc.CodeInvalidRequest)
	if syntax, ok := errors.AsType[*jsonrpc.SyntaxError](err); ok && !syntax.Deep {
		code = jsonrpc.CodeParseError
	}
	s.send(out, mcpwire.AppendFailure(nil, idOfBad(m, err), "", code, err.Error()+"; this message was ignored"), tracing.Note{ID: s.r.trace.Next()})
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

// name is how the client calls itself.
func (s *Session) name() string {
	if name := s.peer.name.Load(); name != nil {
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
		s.r.trace.Orphan(tracing.Client, s.name(), m)
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
