package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire/sanitize"
	"toolman/mcpwire/sse"
	"toolman/router"
	"toolman/router/audit"
	"toolman/router/budget"
	"toolman/router/httpd/presence"
)

// A Code says what went wrong, for programs. Codes are stable.
type Code string

// The codes.
const (
	BadRequest       Code = "bad_request"       // the request is not understood
	InvalidArguments Code = "invalid_arguments" // they are not as the tool's schema wants them
	Unauthenticated  Code = "unauthenticated"   // the credential is missing or wrong
	Forbidden        Code = "forbidden"         // the host, the page or the agent may not
	Denied           Code = "denied"            // the agent's policy does not have the tool
	Held             Code = "held"              // the tool's pin holds it back
	Inactive         Code = "inactive"          // with bridge_active_only: the tool is not active
	Unconfirmed      Code = "unconfirmed"       // the tool is dangerous, and nobody can be asked
	NotFound         Code = "not_found"         // there is no such path
	UnknownServer    Code = "unknown_server"    // no server has that name
	UnknownTool      Code = "unknown_tool"      // the server has no such tool
	WrongMethod      Code = "method_not_allowed"
	TooLarge         Code = "too_large"      // the request is longer than max_body_bytes
	RateLimited      Code = "rate_limited"   // rate_limit, or a limit of [http.limits]
	UpstreamError    Code = "upstream_error" // the server answered with an error, or not in an understandable way
	UpstreamGone     Code = "upstream_gone"  // the server has ended, or is not there yet
	Overloaded       Code = "overloaded"     // too much waits already; the call was not made
	Unavailable      Code = "unavailable"    // toolman ends, or has too many clients
	Timeout          Code = "timeout"        // call_timeout; the call may have been carried out
	Internal         Code = "internal_error"
)

// statuses are those of HTTP that go with the codes.
var statuses = [...]struct {
	code   Code
	status int
}{
	{BadRequest, http.StatusBadRequest}, {InvalidArguments, http.StatusBadRequest},
	{Unauthenticated, http.StatusUnauthorized}, {Forbidden, http.StatusForbidden},
	{Denied, http.StatusForbidden}, {Held, http.StatusForbidden}, {Inactive, http.StatusForbidden}, {Unconfirmed, http.StatusForbidden},
	{NotFound, http.StatusNotFound}, {UnknownServer, http.StatusNotFound}, {UnknownTool, http.StatusNotFound},
	{WrongMethod, http.StatusMethodNotAllowed}, {TooLarge, http.StatusRequestEntityTooLarge}, {RateLimited, http.StatusTooManyRequests},
	{UpstreamError, http.StatusBadGateway}, {UpstreamGone, http.StatusServiceUnavailable}, {Overloaded, http.StatusServiceUnavailable},
	{Unavailable, http.StatusServiceUnavailable}, {Timeout, http.StatusGatewayTimeout}, {Internal, http.StatusInternalServerError},
}

// status is that of HTTP.
func (c Code) status() int {
	for _, s := range statuses {
		if s.code == c {
			return s.status
		}
	}
	return http.StatusInternalServerError
}

// A Failure is why a request was not, or not known to be, carried out.
type Failure struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`           // what is wrong, where, and what to do
	Details any    `json:"details,omitempty"` // by code, see openapi.json

	retry int // seconds after which the same request may be made again; 0: it is not known to be safe
}

// Error implements error.
func (f *Failure) Error() string { return f.Message }

func fail(code Code, message string) *Failure { return &Failure{Code: code, Message: message} }

// failureFor is the failure of a request that is not accepted because of a limit or the end of its
// session.
func failureFor(err error) *Failure {
	f := fail(RateLimited, err.Error())
	switch err {
	case presence.ErrRevoked:
		return fail(Unauthenticated, err.Error())
	case presence.ErrEnded:
		f.Code, f.Message = Unavailable, "toolman is ending, or the session has; try again"
	case presence.ErrFull:
		f.Code = Unavailable
	}
	f.retry = budget.RetryAfter
	return f
}

// denied is the failure of a request that Options.Caller denies.
func denied(why error) *Failure {
	f := fail(Forbidden, why.Error())
	if d, ok := errors.AsType[*presence.Denial](why); ok {
		switch d.Status {
		case http.StatusNotFound:
			f.Code = NotFound
		case http.StatusBadRequest:
			f.Code = BadRequest
		}
	}
	return f
}

// failureOf is the failure of a call that toolman itself has answered.
func failureOf(why *router.Reason) *Failure {
	f := fail(Internal, why.Text)
	switch why.Outcome {
	case audit.Timeout:
		f.Code = Timeout
	case audit.Gone:
		f.Code = UpstreamGone
	case audit.Cancelled:
		f.Code = Unavailable
	case audit.Failed:
		f.Code = UpstreamError
	case audit.Refused:
		f.Code = refusalOf(why.Verdict)
	}
	if f.Code == Overloaded {
		f.retry = 1
	}
	return f
}

// refusalOf is the code of what was decided against. A call that was passed on and
// refused there found its server's queue full.
func refusalOf(v audit.Verdict) Code {
	switch v {
	case audit.Denied:
		return Denied
	case audit.Held:
		return Held
	case audit.Inactive:
		return Inactive
	case audit.Unknown, audit.Ambiguous:
		return UnknownTool
	case audit.Unconfirmed, audit.Declined:
		return Unconfirmed
	case audit.Busy, "":
		return Overloaded
	case audit.Invalid:
		return BadRequest
	}
	return Internal
}

// A failed is the answer to a request that failed.
type failed struct {
	Error       *Failure `json:"error"`
	Correlation string   `json:"correlation_id,omitempty"`
}

// writeFailure answers a request with a failure.
func writeFailure(w http.ResponseWriter, f *Failure, correlation string) {
	if f.retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(f.retry))
	}
	writeJSON(w, f.Code.status(), failed{f, correlation}, nil)
}

// Refusal is guard.RefusalBody.
func Refusal(r *http.Request, status int, message string) []byte {
	code := Internal
	switch status {
	case http.StatusUnauthorized:
		code = Unauthenticated
	case http.StatusForbidden:
		code = Forbidden
	case http.StatusTooManyRequests:
		code = RateLimited
	case http.StatusRequestEntityTooLarge:
		code = TooLarge
	case http.StatusBadRequest:
		code = BadRequest
	}
	body, _ := json.Marshal(failed{fail(code, message), correlationOf(r, "")}) // of plain strings
	return body
}

// writeJSON answers with a value as JSON, at once. What of it waits for the client is counted by
// kept; nil: nothing does.
func writeJSON(w http.ResponseWriter, status int, value any, kept *budget.Reader) {
	text, err := encode(value)
	if err != nil {
		status = http.StatusInternalServerError
		text = []byte(`{"error":{"code":"internal_error","message":"the answer cannot be written"}}`)
	}
	writeText(w, status, text, kept)
}

// writeText is writeJSON for what is JSON already.
func writeText(w http.ResponseWriter, status int, text []byte, kept *budget.Reader) {
	if err := kept.Take(len(text)); err != nil {
		writeFailure(w, failureFor(err), w.Header().Get(headerCorrelation))
		return
	}
	write(w, status, "application/json", text)
}

// encode is a value as JSON, without escapes that only web pages need.
func encode(value any) ([]byte, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	err := enc.Encode(value)
	return text.Bytes(), err
}

func write(w http.ResponseWriter, status int, kind string, body []byte) {
	c := http.NewResponseController(w)
	c.SetWriteDeadline(sse.Deadline(len(body))) // fails only without a connection
	defer c.SetWriteDeadline(time.Time{})
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write(body) // fails only when the client is gone or does not read
	c.Flush()
}

// upstreamError is the failure of a call that its server has answered with an error. The
// error itself goes with it, byte for byte.
func upstreamError(m *jsonrpc.Message) *Failure {
	text := "the server answered with an error"
	if at, err := m.Get(m.Err, "message"); err == nil && at.Present() {
		text += ": " + sanitize.Cut(string(m.Text(at)), maxShown)
	}
	f := fail(UpstreamError, text)
	f.Details = map[string]any{"error": json.RawMessage(m.Bytes(m.Err))}
	return f
}

// maxShown is how much of a foreign text a message has, in bytes.
const maxShown = 1000

// unavailable is the failure of a request about a server that does not exist or does not run; nil if
// it runs.
func unavailable(s *session, server string) *Failure {
	st, known := s.Router.Upstream(server)
	switch {
	case !known:
		return unknownServer(s, server)
	case st.State == router.Gone:
		f := fail(UpstreamGone, fmt.Sprintf("server %s is not running: %s", st.Name, sanitize.Cut(st.Problem, maxShown)))
		f.retry = int((st.Retry + time.Second - 1) / time.Second)
		return f
	case st.State == router.Starting:
		f := fail(UpstreamGone, fmt.Sprintf("server %s is still starting; try again", st.Name))
		f.retry = 1
		return f
	}
	return nil
}

func unknownServer(s *session, server string) *Failure {
	names := s.Router.Servers()
	slices.Sort(names)
	text := "there is no server " + sanitize.Quoted(server, maxShown)
	if len(names) == 0 {
		text += ", and no other that this client may use"
	} else {
		text += "; there are: " + sanitize.Cut(strings.Join(names, ", "), maxShown)
	}
	f := fail(UnknownServer, text)
	f.Details = map[string]any{"servers": append([]string{}, names[:min(len(names), 100)]...)}
	return f
}
