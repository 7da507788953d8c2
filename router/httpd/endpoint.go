package httpd

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strconv"
	"sync/atomic"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/bodies"
	"toolman/mcpwire/httpheader"
	"toolman/router"
	"toolman/router/budget"
	"toolman/router/principal"
)

// Options say how an Endpoint serves. The zero value serves everybody alike, within the
// default bounds.
type Options struct {
	// Caller says who makes a request to /mcp or /mcp/NAME. It is called for every request. An
	// error is the response: a Denial as it says, any other error 404. Nil: all requests have the
	// same caller, and there is no /mcp/NAME.
	Caller func(r *http.Request) (Caller, error)

	// Lasts reports whether the caller of an earlier request is let in still, with the same rights.
	// It is asked about each session, when that begins and by Recheck. Nil: it always is.
	Lasts func(c *Caller) bool

	// Outlive is called with the contexts of requests whose answers go on after ServeHTTP
	// has returned, on a connection that the endpoint has taken over; what it returns is
	// called at their end, with the bytes written there. Nil: nobody wants to know.
	Outlive func(request context.Context) (ended func(bytes int64))

	// Budgets limit what each client can hold; nil: they have no limits.
	Budgets     *budget.Budgets
	MaxBody     int64         // bytes of the longest body taken; 0: 16 MiB
	MaxSessions int           // at once; 0: 10,000
	Idle        time.Duration // after how long without a request or stream a session ends; 0: 1 hour
	KeepAlive   time.Duration // how often a silent stream says that it is still there; 0: 20 s
}

// A Caller is who makes requests: a session is one caller's, and no other finds it.
type Caller struct {
	// View tells apart what one principal is shown: it is equal as long as the configuration is, and the client says
	// the same of itself. It holds no secret.
	View   string
	Client router.Client // what its sessions are; Sole and Many are set by the endpoint
	Addr   netip.Addr    // of the client
}

// A CallerKey is equal for the requests of one caller.
type CallerKey struct {
	principal principal.Principal
	view      string
}

// Key returns the key that the caller's sessions are kept under.
func (c *Caller) Key() CallerKey { return CallerKey{c.Client.Principal, c.View} }

// A Denial says why a request is not served.
type Denial struct {
	Status int    // of HTTP
	Text   string // for people: what is wrong, and what to do
}

// Error implements error.
func (d *Denial) Error() string { return d.Text }

// An Endpoint is the MCP endpoint: the http.Handler for /mcp and, where the pattern has
// {name}, /mcp/NAME.
type Endpoint struct {
	r        *router.Router
	o        Options
	sessions sessions
	bodies   bodies.Pool
	waiting  waiting
	calls    atomic.Int64 // requests whose answers are waited for, but for those that stay open
	tails    atomic.Int64 // streams that go on without their handlers
}

// New makes the endpoint of a router.
func New(r *router.Router, o Options) *Endpoint {
	o.MaxBody = cmp.Or(o.MaxBody, 16<<20)
	o.MaxSessions = cmp.Or(o.MaxSessions, 10_000)
	o.Idle = cmp.Or(o.Idle, time.Hour)
	o.KeepAlive = cmp.Or(o.KeepAlive, 20*time.Second)
	if o.Budgets == nil {
		o.Budgets = budget.New(budget.Limits{}, budget.Limits{})
	}
	if o.Lasts == nil {
		o.Lasts = func(*Caller) bool { return true }
	}
	if o.Outlive == nil {
		o.Outlive = func(context.Context) func(int64) { return func(int64) {} }
	}
	return &Endpoint{r: r, o: o, sessions: newSessions(o.MaxSessions)}
}

// Sessions returns how many sessions there are.
func (e *Endpoint) Sessions() int { return e.sessions.count() }

// Calls returns how many requests wait for their answers, without subscriptions.
func (e *Endpoint) Calls() int { return int(e.calls.Load()) }

// ServeHTTP implements http.Handler. It returns when the response is complete, which
// may take as long as the client listens; over HTTP/1.1 it takes over connections of
// clients who only listen, and returns.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	who, err := e.caller(r)
	if err != nil {
		deny(w, err)
		return
	}
	who.Client.Account = e.o.Budgets.Open(who.Client.Principal)
	defer who.Client.Account.Close()
	switch {
	case r.Method == http.MethodPost:
		e.post(w, r, who)
	case mcpwire.EraOf(r.Header.Get(httpheader.Version)) == mcpwire.Modern:
		notAllowed(w, http.MethodPost, "revision "+mcpwire.Newest+" has only POST")
	case r.Method == http.MethodGet:
		e.get(w, r, who)
	case r.Method == http.MethodDelete:
		e.delete(w, r, who)
	default:
		notAllowed(w, "POST, GET, DELETE", "the MCP endpoint takes POST, GET and DELETE")
	}
}

func (e *Endpoint) caller(r *http.Request) (Caller, error) {
	switch {
	case e.o.Caller != nil:
		return e.o.Caller(r)
	case r.PathValue("name") != "":
		return Caller{}, errNoName
	}
	return Caller{}, nil
}

var errNoName = errors.New("there is no endpoint of this name here")

// deny answers a request that is nobody's.
func deny(w http.ResponseWriter, why error) {
	status := http.StatusNotFound
	if denial, ok := errors.AsType[*Denial](why); ok {
		status = denial.Status
	}
	refuse(w, status, nil, codeInvalidRequest, why.Error())
}

// notAllowed answers a request of a method that is not for it.
func notAllowed(w http.ResponseWriter, allow, why string) {
	w.Header().Set("Allow", allow)
	refuse(w, http.StatusMethodNotAllowed, nil, codeInvalidRequest, why)
}

// A refusal says why no request is taken on.
type refusal string

// Error implements error.
func (r refusal) Error() string { return string(r) }

const (
	errFull  refusal = "toolman has as many sessions as it may have (max_sessions in [http]); try again later"
	errEnded refusal = "the session has ended; send initialize for a new one"

	errRevoked refusal = "the rights that this session had are not in the configuration any more; begin a new one, with another credential if this one is refused"
)

// reject answers a request that toolman does not take on, under its ID if it has one: the client is
// at a limit of its own or toolman at one of its, or what the client wants remembered is too long.
func reject(w http.ResponseWriter, id []byte, err error) {
	_, limit := errors.AsType[*budget.LimitError](err)
	switch {
	case limit:
		w.Header().Set("Retry-After", strconv.Itoa(budget.RetryAfter))
		refuse(w, http.StatusTooManyRequests, id, codeInternal, err.Error())
	case err == errRevoked:
		refuse(w, http.StatusUnauthorized, id, codeInvalidRequest, err.Error())
	case err == errFull || err == errEnded:
		w.Header().Set("Retry-After", strconv.Itoa(budget.RetryAfter))
		refuse(w, http.StatusServiceUnavailable, id, codeInternal, err.Error())
	default:
		refuse(w, http.StatusBadRequest, id, jsonrpc.CodeInvalidParams, err.Error())
	}
}
