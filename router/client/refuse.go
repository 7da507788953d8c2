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
	"toolman/router/calls"
	"toolman/router/catalog"
	"toolman/router/tracing"
)

// A Refusal is the reason why toolman does not pass a request on. Its text also says what to do
// next.
type Refusal struct {
	Code         int64
	Text         string
	Verdict      string         // for the trace and the audit log; "": the request is invalid
	About        catalog.Target // target of the name, if it has one
	Rule         string         // for the audit log and the trace; "": the one that the verdict on About comes from
	ShuttingDown bool           // toolman ends: the request is not audited
}

// Refuse answers a request with a refusal.
func (s *Conn) Refuse(req *Request, why Refusal) {
	note := tracing.Note{Method: req.Method, Verdict: "local"}
	if s.Trace.On() {
		name, _, _ := mcpwire.Target(req.Message, req.Method)
		note.ID = s.TraceArrival(req, name)
		note.Name = string(req.Text(name))
		note.Rule = s.ruleOf(req, &why)
	}
	if why.Verdict != "" {
		note.Verdict = why.Verdict
	}
	if !why.ShuttingDown {
		s.auditRefusal(req, &why, note.ID)
	}
	s.NotifyObserver(req.Bytes(req.ID), ReasonFor(why.Verdict, why.Text))
	if req.Modern && why.Verdict == catalog.Unknown.String() {
		req.Method = "" // an error also for tools (2026-07-28, Tools, Error Handling)
	}
	s.Send(req.Out, mcpwire.AppendFailure(req.Era(), nil, req.Bytes(req.ID), req.Method, why.Code, why.Text), note)
}

// AllowsArguments reports whether the policy allows a call of req.Target with its arguments. If
// not, the call was refused.
func (s *Conn) AllowsArguments(req *Request) bool {
	rules := req.View.Catalog.Conditions(req.Target.Entry)
	if rules == nil || req.Method != mcpwire.ToolsCall {
		return true
	}
	at, err := req.Param("arguments")
	if err != nil { // the server may read other arguments than toolman
		s.Refuse(req, Refusal{Code: jsonrpc.CodeInvalidParams, Text: err.Error(), About: req.Target})
		return false
	}
	rule := rules.Forbids(req.Bytes(at))
	if rule != "" {
		s.Refuse(req, Refusal{Code: jsonrpc.CodeInvalidParams, Verdict: catalog.Denied.String(), Text: req.Target.Entry.ArgumentDenial(rule),
			About: req.Target, Rule: rule})
	}
	return rule == ""
}

// BadTarget returns the refusal of a request without a valid target. err, if not nil, says what is
// wrong with it.
func BadTarget(method mcpwire.Method, err error) Refusal {
	text := fmt.Sprintf("%s needs params.%s", method, targetParam[method])
	if err != nil {
		text = err.Error()
	}
	return Refusal{Code: jsonrpc.CodeInvalidParams, Text: text}
}

// targetParam has the parameter that names the target of a method.
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

// Decline answers a request with a JSON-RPC error that the specification prescribes, even for
// tools/call, whose failures are usually tool results.
func (s *Conn) Decline(req *Request, why *mcpwire.Refusal) {
	s.NotifyObserver(req.Bytes(req.ID), ReasonFor("", why.Message))
	s.SendDecline(req, why)
}

// SendDecline is Decline without NotifyObserver.
func (s *Conn) SendDecline(req *Request, why *mcpwire.Refusal) {
	n := s.TraceArrival(req, jsonrpc.Span{})
	s.auditRefusal(req, &Refusal{Text: why.Message}, n)
	s.Send(req.Out, why.Append(nil, req.Bytes(req.ID)), tracing.Note{ID: n, Method: req.Method, Verdict: "local"})
}

// DeclineError is Decline for an error of package mcpwire. Another error is refused as invalid
// parameters.
func (s *Conn) DeclineError(req *Request, err error) {
	if why, ok := errors.AsType[*mcpwire.Refusal](err); ok {
		s.Decline(req, why)
		return
	}
	s.Refuse(req, Refusal{Code: jsonrpc.CodeInvalidParams, Text: err.Error()})
}

// Reply answers a request with a result of toolman's own, and returns its correlation number.
func (s *Conn) Reply(req *Request, result []byte) (n uint64) {
	n = s.TraceArrival(req, jsonrpc.Span{})
	if req.Modern {
		result = complete(result, req.Method)
	}
	s.Send(req.Out, jsonrpc.AppendResult(nil, req.Bytes(req.ID), result), tracing.Note{ID: n, Method: req.Method, Status: "local"})
	return n
}

// complete adds resultType and the caching fields to a result of toolman's own, as the modern era
// requires.
func complete(result []byte, method mcpwire.Method) []byte {
	out := mcpwire.AppendComplete([]byte{'{'}, method)
	if string(result) == "{}" {
		return append(out[:len(out)-1], '}')
	}
	return append(out, result[1:]...)
}

// FailCall answers the request of a call that has failed. problem says why.
func (s *Conn) FailCall(c *calls.Call, problem string, how audit.Outcome, out *peer.Outgoing) {
	c.Audited.Fail(how, problem)
	note := tracing.Note{ID: c.TraceID, Method: c.Method}
	if how == audit.Timeout {
		note.Status = trace.StatusTimeout
	}
	s.NotifyObserver(c.ID(), Reason{Outcome: how, Text: problem})
	s.Send(out, FailureOf(c, problem), note)
}

// FailureOf returns the response for a call that has failed.
func FailureOf(c *calls.Call, problem string) []byte {
	return mcpwire.AppendFailure(EraOf(c.Modern), nil, c.ID(), c.Method, jsonrpc.CodeInternalError, problem)
}

// A CallObserver is implemented by a session's Sender that records more about requests than their
// frames, as the bridge does. Its methods are called with locks held: they must not block or call
// the router. They may keep the IDs.
type CallObserver interface {
	// Correlation returns the correlation ID of a request for the audit log; "": none.
	Correlation(id []byte) string
	// LocalReply is called with the reason for a response of toolman itself, just before the
	// response is queued.
	LocalReply(id []byte, why Reason)
}

// A Reason says why toolman itself answers a request.
type Reason struct {
	Verdict audit.Verdict // "" if the request was passed on
	Outcome audit.Outcome // Refused, or how the server failed
	Text    string        // the problem and what to do
}

// NotifyObserver tells the session's observer, if there is one. It copies the ID, so that the ID of
// a call need not be allocated.
func (s *Conn) NotifyObserver(id []byte, why Reason) {
	if s.Front.Observer != nil {
		s.Front.Observer.LocalReply(bytes.Clone(id), why)
	}
}

// ReasonFor returns the reason for a request that is refused. Without a verdict it is
// audit.Invalid.
func ReasonFor(verdict, text string) Reason {
	if verdict == "" {
		verdict = string(audit.Invalid)
	}
	return Reason{Verdict: audit.Verdict(verdict), Outcome: audit.Refused, Text: text}
}

// correlation returns the correlation ID of a request.
func (s *Conn) correlation(req *Request) string {
	if s.Front.Observer == nil {
		return ""
	}
	return s.Front.Observer.Correlation(bytes.Clone(req.Bytes(req.ID)))
}

// A CallChecker is implemented by a session's Sender that checks tool calls against more than the
// message. It is called with locks held, and must not call the router.
type CallChecker interface {
	// CheckCall returns why a call is refused, or nil.
	CheckCall(m *jsonrpc.Message, tool *catalog.Entry) *mcpwire.Refusal
}
