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
	"toolman/mcpwire/httpbody"
	"toolman/mcpwire/sanitize"
	"toolman/router/audit"
	"toolman/router/budget"
	"toolman/router/client"
	"toolman/router/httpd/presence"
	"toolman/router/upstream"
)

// A Code says for programs what is wrong. Codes do not change.
type Code string

// The codes.
const (
	BadRequest       Code = "bad_request"       // the request is malformed
	InvalidArguments Code = "invalid_arguments" // the arguments do not match the tool's inputSchema
	Unauthenticated  Code = "unauthenticated"   // the credential is missing or wrong
	Forbidden        Code = "forbidden"         // the host, the origin or the agent is not allowed
	Denied           Code = "denied"            // the agent's policy does not allow the tool
	Held             Code = "held"              // the definition of the tool differs from its pin
	Inactive         Code = "inactive"          // with bridge_active_only: the tool is not active
	Unconfirmed      Code = "unconfirmed"       // the tool is dangerous, and no person can confirm the call
	NotFound         Code = "not_found"         // no such path
	UnknownServer    Code = "unknown_server"    // no such server
	UnknownTool      Code = "unknown_tool"      // no such tool
	WrongMethod      Code = "method_not_allowed"
	TooLarge         Code = "too_large"      // the request is longer than max_body_bytes
	RateLimited      Code = "rate_limited"   // rate_limit, or a limit of [http.limits]
	UpstreamError    Code = "upstream_error" // the server answered with an error, or its answer is not valid
	UpstreamGone     Code = "upstream_gone"  // the server has ended, or is starting
	Overloaded       Code = "overloaded"     // too many calls wait already; the call was not made
	Unavailable      Code = "unavailable"    // toolman is ending, or has too many clients
	Timeout          Code = "timeout"        // call_timeout; the call may still take effect
	Internal         Code = "internal_error"
)

// statuses are the HTTP statuses of the codes.
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

// status returns the HTTP status of the code.
func (c Code) status() int {
	for _, s := range statuses {
		if s.code == c {
			return s.status
		}
	}
	return http.StatusInternalServerError
}

// codeOf returns the code for a status of the guard or of a presence.Denial.
func codeOf(status int) Code {
	for _, s := range statuses {
		if s.status == status && status < 500 {
			return s.code
		}
	}
	return Internal
}

// A Failure says why a request failed.
type Failure struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`           // what is wrong, where, and what to do next
	Details any    `json:"details,omitempty"` // depend on the code, see openapi.json

	retry int // seconds after which the client may retry; 0: a retry may not be safe
}

// Error implements error.
func (f *Failure) Error() string { return f.Message }

// fail returns a failure.
func fail(code Code, message string) *Failure { return &Failure{Code: code, Message: message} }

// failureFor returns the failure for an error: the error itself, or a refusal because of the
// client's rights, a limit, or the end of the session.
func failureFor(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	if d, ok := errors.AsType[*presence.Denial](err); ok {
		return fail(codeOf(d.Status), d.Text)
	}
	f := &Failure{Code: Forbidden, Message: err.Error(), retry: budget.RetryAfter}
	_, limit := errors.AsType[*budget.LimitError](err)
	switch {
	case limit:
		f.Code = RateLimited
	case err == presence.ErrFull, err == presence.ErrUnavailable, err == presence.ErrMoved:
		f.Code = Unavailable
	case err == presence.ErrEnded:
		f.Code, f.Message = Unavailable, "toolman is ending, or the session has ended; try again"
	case err == presence.ErrRevoked:
		f.Code, f.retry = Unauthenticated, 0
	default:
		f.retry = 0
	}
	return f
}

// failureOf returns the failure of a call that toolman itself has answered. A call that was passed
// on and then refused has found the queue of its server full.
func failureOf(why *client.Reason) *Failure {
	code, known := map[audit.Outcome]Code{
		audit.Timeout: Timeout, audit.Gone: UpstreamGone, audit.Cancelled: Unavailable, audit.Failed: UpstreamError,
	}[why.Outcome]
	if why.Outcome == audit.Refused {
		code, known = map[audit.Verdict]Code{
			audit.Denied: Denied, audit.Held: Held, audit.Inactive: Inactive, audit.Unknown: UnknownTool, audit.Ambiguous: UnknownTool,
			audit.Unconfirmed: Unconfirmed, audit.Declined: Unconfirmed, audit.Busy: Overloaded, "": Overloaded, audit.Invalid: BadRequest,
		}[why.Verdict]
	}
	if !known {
		code = Internal
	}
	f := fail(code, why.Text)
	if code == Overloaded {
		f.retry = 1
	}
	return f
}

// A failed is the response to a request that failed.
type failed struct {
	Error       *Failure `json:"error"`
	Correlation string   `json:"correlation_id,omitempty"`
}

// writeFailure answers with the failure for an error.
func writeFailure(w http.ResponseWriter, err error, correlation string) {
	f := failureFor(err)
	if f.retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(f.retry))
	}
	writeJSON(w, f.Code.status(), failed{f, correlation}, nil)
}

// Refusal is the guard.RefusalBody of the bridge.
func Refusal(r *http.Request, status int, message string) []byte {
	body, _ := json.Marshal(failed{fail(codeOf(status), message), correlationOf(r, "")}) // cannot fail
	return body
}

// ErrorResponse returns the response to a request that failed before the bridge got it.
func ErrorResponse(r *http.Request, code Code, message string) (status int, body []byte) {
	body, _ = json.Marshal(failed{fail(code, message), correlationOf(r, "")}) // cannot fail
	return code.status(), body
}

// writeJSON answers with a value as JSON. kept counts its bytes; it may be nil.
func writeJSON(w http.ResponseWriter, status int, value any, kept *budget.Reader) {
	text, err := encode(value)
	if err != nil {
		status = http.StatusInternalServerError
		text = []byte(`{"error":{"code":"internal_error","message":"the answer cannot be written"}}`)
	}
	writeText(w, status, text, kept)
}

// writeText is writeJSON for text that is JSON already.
func writeText(w http.ResponseWriter, status int, text []byte, kept *budget.Reader) {
	if err := kept.Take(len(text)); err != nil {
		writeFailure(w, err, w.Header().Get(headerCorrelation))
		return
	}
	write(w, status, "application/json", text)
}

// encode returns a value as JSON, without escapes for HTML.
func encode(value any) ([]byte, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	err := enc.Encode(value)
	return text.Bytes(), err
}

func write(w http.ResponseWriter, status int, kind string, body []byte) {
	c := http.NewResponseController(w)
	c.SetWriteDeadline(httpbody.WriteDeadline(len(body))) // fails only without a connection
	defer c.SetWriteDeadline(time.Time{})
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write(body) // fails only if the client has disconnected or does not read
	c.Flush()
}

// upstreamError returns the failure of a call that its server has answered with an error. Its
// details contain that error verbatim.
func upstreamError(m *jsonrpc.Message) *Failure {
	text := "the server answered with an error"
	if at, err := m.Get(m.Err, "message"); err == nil && at.Present() {
		text += ": " + sanitize.Cut(string(m.Text(at)), maxShown)
	}
	f := fail(UpstreamError, text)
	f.Details = map[string]any{"error": json.RawMessage(bytes.Clone(m.Bytes(m.Err)))}
	return f
}

// maxShown is the number of bytes of foreign text that a message repeats.
const maxShown = 1000

// unavailable returns the failure of a request about a server that does not exist or does not run;
// nil if it runs.
func unavailable(s *session, server string) error {
	st, known := s.Router.Upstream(server)
	switch {
	case !known:
		return unknownServer(s, server)
	case st.State == upstream.Gone:
		return &Failure{Code: UpstreamGone, Message: fmt.Sprintf("server %s is not running: %s", st.Name, sanitize.Cut(st.Problem, maxShown)),
			retry: int((st.Retry + time.Second - 1) / time.Second)}
	case st.State == upstream.Starting:
		return &Failure{Code: UpstreamGone, Message: fmt.Sprintf("server %s is still starting; try again", st.Name), retry: 1}
	}
	return nil
}

func unknownServer(s *session, server string) error {
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
