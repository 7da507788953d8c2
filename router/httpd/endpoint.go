package httpd

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync/atomic"
	"time"

	"toolman/mcpwire"
	"toolman/mcpwire/httpbody"
	"toolman/mcpwire/httpheader"
	"toolman/router"
	"toolman/router/budget"
	"toolman/router/httpd/presence"
)

// Options configure an Endpoint.
type Options struct {
	presence.Options

	// Outlive is called with the context of each request whose response continues after ServeHTTP
	// has returned. The function that it returns is called at the end of the response, with the
	// number of bytes that were written until then. It may be nil.
	Outlive func(request context.Context) (ended func(bytes int64))

	KeepAlive time.Duration // interval of comments on a silent stream; 0: 20 s

	// LateAnswers says that initialize may be answered later, as with --debug, and that its
	// response must have the ID of the session before.
	LateAnswers bool

	// NewID returns the ID of a new session of the legacy era (2025-11-25, Session Management: an
	// ID is "globally unique and cryptographically secure"). Nil: 26 random characters.
	NewID func(who *presence.Caller) string
}

// An Endpoint is the http.Handler of /mcp and, if the pattern has {name}, of /mcp/NAME.
type Endpoint struct {
	r        *router.Router
	o        Options
	sessions *presence.Registry[*session, *call]
	bodies   httpbody.Pool
	calls    atomic.Int64 // requests that wait for their answers, without subscriptions
	hijacked atomic.Int64 // streams that continue without their handlers
}

// New makes the endpoint of a router.
func New(r *router.Router, o Options) *Endpoint {
	o.KeepAlive = cmp.Or(o.KeepAlive, 20*time.Second)
	if o.Outlive == nil {
		o.Outlive = func(context.Context) func(int64) { return func(int64) {} }
	}
	if o.NewID == nil {
		o.NewID = func(*presence.Caller) string { return rand.Text() }
	}
	e := &Endpoint{r: r, o: o}
	e.sessions = presence.NewRegistry(presence.Front[*session, *call]{Options: o.Options, Name: "mcp", New: e.newSession, Ended: (*session).ended,
		Record: (*session).record, Restore: (*session).restore, StaysOpen: (*call).staysOpen})
	return e
}

// Sessions returns the number of sessions.
func (e *Endpoint) Sessions() int { return e.sessions.Len() }

// Calls returns the number of requests that wait for their answers, without subscriptions.
func (e *Endpoint) Calls() int { return int(e.calls.Load()) }

// Recheck ends the sessions whose callers have lost their rights, with all their requests.
func (e *Endpoint) Recheck() { e.sessions.Recheck() }

// EndStreams ends GET streams and subscriptions, which stay open between calls. There are no new
// sessions from then on. It does not wait.
func (e *Endpoint) EndStreams() {
	e.sessions.Stop()
	for _, s := range e.sessions.All() {
		s.endStreams()
	}
}

// Close ends all sessions, and waits a moment for the last bytes of streams. What is still open
// then is cut off when the program ends.
func (e *Endpoint) Close() {
	e.sessions.Close()
	for range 125 {
		if e.hijacked.Load() == 0 {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// An exchange is an HTTP request and its response.
type exchange struct {
	*Endpoint
	w      http.ResponseWriter
	r      *http.Request
	client presence.Caller
	body   *budget.Reader // counts the body until it is released
}

// ServeHTTP implements http.Handler. It returns when the response is complete, which may take as
// long as the client listens. Over HTTP/1.1 it takes over the connections of streams that stay
// open, and returns.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := exchange{Endpoint: e, w: w, r: r}
	var err error
	if x.client, err = e.sessions.Admit(r); err != nil {
		status := http.StatusNotFound
		if denial, ok := errors.AsType[*presence.Denial](err); ok {
			status = denial.Status
		}
		x.refuse(status, nil, codeInvalidRequest, err.Error())
		return
	}
	defer x.client.Client.Account.Close()
	if x.o.Route != nil && x.o.Route(w, r, &x.client) {
		return
	}
	switch {
	case r.Method == http.MethodPost:
		x.post()
	case mcpwire.EraOf(r.Header.Get(httpheader.Version)) == mcpwire.Modern:
		if last := r.Header.Get(httpheader.LastEvent); r.Method == http.MethodGet && x.o.Keeper != nil && isResumeID(last) {
			x.resume(nil, last)
			return
		}
		x.notAllowed(http.MethodPost, "revision "+mcpwire.Newest+" has only POST")
	case r.Method == http.MethodGet:
		x.get()
	case r.Method == http.MethodDelete:
		x.delete()
	default:
		x.notAllowed("POST, GET, DELETE", "the MCP endpoint takes POST, GET and DELETE")
	}
}

// EndOnPanic ends the process when a handler panics. net/http would continue, but the router may
// hold locks that are never released then. A supervisor starts toolman again.
func EndOnPanic(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch p := recover(); p {
			case nil:
			case http.ErrAbortHandler:
				panic(p)
			default:
				stack := debug.Stack()
				go panic(fmt.Sprintf("%v\n%s", p, stack)) // nothing recovers on a goroutine of its own
				select {}
			}
		}()
		next.ServeHTTP(w, r)
	})
}
