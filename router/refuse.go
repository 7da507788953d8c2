package router

import (
	"errors"
	"fmt"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/metatool"
	"toolman/router/tracing"
	"toolman/router/view"
)

// A refusal is why toolman does not pass a request on, in words that say what
// to do next.
type refusal struct {
	code    int64
	text    string
	verdict string         // for the trace and the audit log; "" when it is not about a name
	about   catalog.Target // what the name leads to, if anything
	ending  bool           // toolman ends, and has decided nothing
}

// refuse answers a request with a refusal.
func (s *conn) refuse(req *request, why refusal) {
	said := tracing.Note{Method: req.method, Verdict: "local"}
	if s.trace.On() {
		name, _, _ := mcpwire.Target(req.Message, req.method)
		said.ID = s.traceArrivalLocked(req, name)
		said.Name = string(req.Text(name))
	}
	if why.verdict != "" {
		said.Verdict = why.verdict
	}
	if !why.ending {
		s.decideAgainstLocked(req, &why, said.ID)
	}
	s.tellObserver(req.Bytes(req.ID), reasonFor(why.verdict, why.text))
	if req.modern && why.verdict == catalog.Unknown.String() {
		req.method = "" // an error also for tools (2026-07-28, Tools, Error Handling)
	}
	s.send(req.out, mcpwire.AppendFailureFor(req.era(), nil, req.Bytes(req.ID), req.method, why.code, why.text), said)
}

// replyLocal answers a request with a result of toolman's own, and returns its
// correlation number.
func (s *conn) replyLocal(req *request, result []byte) (n uint64) {
	n = s.traceArrivalLocked(req, jsonrpc.Span{})
	if req.modern {
		result = completed(result, req.method)
	}
	s.send(req.out, jsonrpc.AppendResult(nil, req.Bytes(req.ID), result), tracing.Note{ID: n, Method: req.method, Status: "local"})
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

// badTarget refuses a request that does not say what it is about.
func badTarget(method mcpwire.Method, err error) refusal {
	text := fmt.Sprintf("%s needs params.%s", method, targetParam[method])
	if err != nil {
		text = err.Error()
	}
	return refusal{code: jsonrpc.CodeInvalidParams, text: text}
}

// refuseName is a refusal of a name that cannot be used.
func refuseName(v *view.View, k mcpwire.Kind, name string, t catalog.Target, verdict catalog.Verdict, has *metatool.Guidance) refusal {
	return refusal{code: jsonrpc.CodeInvalidParams, verdict: verdict.String(), about: t, text: has.Explain(v, k, name, t, verdict)}
}

// decline answers a request with an error that the specification prescribes, also
// where a tool result is usual.
func (s *conn) decline(req *request, why *mcpwire.Refusal) {
	s.tellObserver(req.Bytes(req.ID), reasonFor("", why.Message))
	s.declined(req, why)
}

// declined is decline for what the observer knows already.
func (s *conn) declined(req *request, why *mcpwire.Refusal) {
	n := s.traceArrivalLocked(req, jsonrpc.Span{})
	s.decideAgainstLocked(req, &refusal{}, n)
	s.send(req.out, why.Append(nil, req.Bytes(req.ID)), tracing.Note{ID: n, Method: req.method, Verdict: "local"})
}

// declineError is decline for an error of package mcpwire.
func (s *conn) declineError(req *request, err error) {
	if why, ok := errors.AsType[*mcpwire.Refusal](err); ok {
		s.decline(req, why)
		return
	}
	s.refuse(req, refusal{code: jsonrpc.CodeInvalidParams, text: err.Error()})
}

// completed returns a result of toolman's own as the modern era wants it.
func completed(result []byte, method mcpwire.Method) []byte {
	out := mcpwire.AppendComplete([]byte{'{'}, method)
	if string(result) == "{}" {
		return append(out[:len(out)-1], '}')
	}
	return append(out, result[1:]...)
}
