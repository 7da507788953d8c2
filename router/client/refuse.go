package client

import (
	"bytes"
	"errors"
	"fmt"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// A Refusal is why toolman does not pass a request on, in words that say what
// to do next.
type Refusal struct {
	Code         int64
	Text         string
	Verdict      string         // for the trace and the audit log; "" when it is not about a name
	About        catalog.Target // what the name leads to, if anything
	ShuttingDown bool           // toolman ends, and has decided nothing
}

// Refuse answers a request with a refusal.
func (s *Conn) Refuse(req *Request, why Refusal) {
	said := tracing.Note{Method: req.Method, Verdict: "local"}
	if s.Trace.On() {
		name, _, _ := mcpwire.Target(req.Message, req.Method)
		said.ID = s.TraceArrival(req, name)
		said.Name = string(req.Text(name))
	}
	if why.Verdict != "" {
		said.Verdict = why.Verdict
	}
	if !why.ShuttingDown {
		s.auditRefusal(req, &why, said.ID)
	}
	s.NotifyObserver(req.Bytes(req.ID), ReasonFor(why.Verdict, why.Text))
	if req.Modern && why.Verdict == catalog.Unknown.String() {
		req.Method = "" // an error also for tools (2026-07-28, Tools, Error Handling)
	}
	s.Send(req.Out, mcpwire.AppendFailure(req.Era(), nil, req.Bytes(req.ID), req.Method, why.Code, why.Text), said)
}

// Reply answers a request with a result of toolman's own, and returns its
// correlation number.
func (s *Conn) Reply(req *Request, result []byte) (n uint64) {
	n = s.TraceArrival(req, jsonrpc.Span{})
	if req.Modern {
		result = complete(result, req.Method)
	}
	s.Send(req.Out, jsonrpc.AppendResult(nil, req.Bytes(req.ID), result), tracing.Note{ID: n, Method: req.Method, Status: "local"})
	return n
}

var targetParam = map[mcpwire.Method]string{
	mcpwire.ToolsCall:     "name",
	mcpwire.PromptsGet:    "name",
	mcpwire.ResourcesRead: "uri",
	mcpwire.Subscribe:     "uri",
	mcpwire.Unsubscribe:   "uri",
	mcpwire.TasksGet:      "taskId",
	mcpwire.TasksResult:   "taskId",
	mcpwire.TasksCancel:   "taskId",
	mcpwire.Complete:      `ref, either {"type":"ref/prompt","name":…} or {"type":"ref/resource","uri":…}`,
}

// BadTarget refuses a request that does not say what it is about.
func BadTarget(method mcpwire.Method, err error) Refusal {
	text := fmt.Sprintf("%s needs params.%s", method, targetParam[method])
	if err != nil {
		text = err.Error()
	}
	return Refusal{Code: jsonrpc.CodeInvalidParams, Text: text}
}

// Decline answers a request with an error that the specification prescribes, also
// where a tool result is usual.
func (s *Conn) Decline(req *Request, why *mcpwire.Refusal) {
	s.NotifyObserver(req.Bytes(req.ID), ReasonFor("", why.Message))
	s.SendDecline(req, why)
}

// SendDecline is decline for what the observer knows already.
func (s *Conn) SendDecline(req *Request, why *mcpwire.Refusal) {
	n := s.TraceArrival(req, jsonrpc.Span{})
	s.auditRefusal(req, &Refusal{}, n)
	s.Send(req.Out, why.Append(nil, req.Bytes(req.ID)), tracing.Note{ID: n, Method: req.Method, Verdict: "local"})
}

// DeclineError is decline for an error of package mcpwire.
func (s *Conn) DeclineError(req *Request, err error) {
	if why, ok := errors.AsType[*mcpwire.Refusal](err); ok {
		s.Decline(req, why)
		return
	}
	s.Refuse(req, Refusal{Code: jsonrpc.CodeInvalidParams, Text: err.Error()})
}

// complete returns a result of toolman's own as the modern era wants it.
func complete(result []byte, method mcpwire.Method) []byte {
	out := mcpwire.AppendComplete([]byte{'{'}, method)
	if string(result) == "{}" {
		return append(out[:len(out)-1], '}')
	}
	return append(out, result[1:]...)
}

// FailCall answers the request that waits for the call with a failure of toolman's own.
func (s *Conn) FailCall(c *upstream.Call, problem string, how audit.Outcome, out *peer.Outgoing) {
	c.Audited.End(how)
	said := tracing.Note{ID: c.TraceID, Method: c.Method}
	if how == audit.Timeout {
		said.Status = trace.StatusTimeout
	}
	s.NotifyObserver(c.ID(), Reason{Outcome: how, Text: problem})
	s.Send(out, FailureOf(c, problem), said)
}

// FailureOf makes toolman's own answer to a call.
func FailureOf(c *upstream.Call, problem string) []byte {
	return mcpwire.AppendFailure(EraOf(c.Modern), nil, c.ID(), c.Method, jsonrpc.CodeInternalError, problem)
}

// A CallObserver is implemented by a session's Sender that keeps more about a request than its frame has,
// as the bridge does. Its methods are called with locks held: they must not block or call the router.
// They may keep the IDs.
type CallObserver interface {
	// Correlation returns the correlation ID of the request with this ID, for the audit log; "" for none.
	Correlation(id []byte) string
	// LocalReply is called with the reason for a reply of toolman itself, just before it is queued.
	LocalReply(id []byte, why Reason)
}

// A Reason says why toolman itself answers a request.
type Reason struct {
	Verdict audit.Verdict // what was decided about it; "" when it was passed on
	Outcome audit.Outcome // how it ended: Refused, or what became of it at its server
	Text    string        // what is wrong, and what to do
}

// NotifyObserver tells the session's observer, if it has one. The id is copied: a call whose own
// could leave it would be made on the heap.
func (s *Conn) NotifyObserver(id []byte, why Reason) {
	if s.Front.Observer != nil {
		s.Front.Observer.LocalReply(bytes.Clone(id), why)
	}
}

// ReasonFor is the reason of a request that is not passed on. Without a verdict it was
// not understood.
func ReasonFor(verdict, text string) Reason {
	if verdict == "" {
		verdict = string(audit.Invalid)
	}
	return Reason{Verdict: audit.Verdict(verdict), Outcome: audit.Refused, Text: text}
}

// correlation is the correlation ID of a request.
func (s *Conn) correlation(req *Request) string {
	if s.Front.Observer == nil {
		return ""
	}
	return s.Front.Observer.Correlation(bytes.Clone(req.Bytes(req.ID)))
}

// A CallChecker is implemented by a session's Sender that checks calls of tools against more than
// the message. It is called with locks held, and must not call the router.
type CallChecker interface {
	// CheckCall returns why a call is refused; nil if it is not.
	CheckCall(m *jsonrpc.Message, tool *catalog.Entry) *mcpwire.Refusal
}
