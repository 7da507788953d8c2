package bridge

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"toolman/router"
	"toolman/router/budget"
	"toolman/router/httpd/bridge/calllog"
	"toolman/router/httpd/presence"
)

// Options configure a Bridge.
type Options struct {
	presence.Options
	// Correlate is called with the correlation ID of each request, for the log. It may be nil.
	Correlate func(r *http.Request, correlation string)
	// Logs returns the logs that a request of an agent may read. If it is nil, a client may read
	// only its own calls.
	Logs func(r *http.Request, agent string) Logs
	// Log gets the calls. If it is nil, the bridge has its own, without the calls of MCP clients.
	Log *calllog.Log
	// OtherLogs returns what the client of a request to GET /logs may read at the other replicas of
	// a cluster, and which of them did not answer. If it is nil, there are none.
	OtherLogs func(r *http.Request) (logs [][]calllog.Entry, missing []string)
	// Status returns the response to GET /tools?view=status. If it is nil, there is no such view.
	Status func(r *http.Request) router.ToolStatus
	// ActiveOnly refuses calls of tools that are not active.
	ActiveOnly bool
}

// A Bridge is the http.Handler of all paths of the API.
type Bridge struct {
	r        *router.Router
	o        Options
	mux      *http.ServeMux
	sessions *presence.Registry[*session, *call]
	schemas  schemas
	calls    atomic.Int64
}

var paths = [...]string{"/call_tool", "/execute", "/tools", "/logs"}

// New returns the bridge of a router.
func New(r *router.Router, o Options) *Bridge {
	if o.Correlate == nil {
		o.Correlate = func(*http.Request, string) {}
	}
	if o.Logs == nil {
		o.Logs = func(*http.Request, string) Logs { return Logs{} }
	}
	if o.Log == nil {
		o.Log = calllog.New(calllog.Options{})
	}
	b := &Bridge{r: r, o: o, mux: http.NewServeMux()}
	b.sessions = presence.NewRegistry(presence.Front[*session, *call]{Options: o.Options, Name: "bridge", New: b.newSession, Ended: (*session).ended,
		Record: func(s *session) []byte { return s.Router.Record() }, Restore: func(s *session, record []byte) { s.Router.Restore(record) },
		StaysOpen: func(*call) bool { return false }})
	b.handle("/call_tool", (*exchange).callTool, http.MethodPost)
	b.handle("/execute", (*exchange).execute, http.MethodPost)
	b.handle("/tools", (*exchange).listTools, http.MethodGet, http.MethodPost)
	b.handle("/logs", (*exchange).listLogs, http.MethodGet)
	b.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeFailure(w, fail(NotFound, "there is nothing at this path; /openapi.json lists all paths"), correlationOf(r, ""))
	})
	return b
}

// Paths returns the paths that the bridge serves.
func (b *Bridge) Paths() []string { return paths[:] }

// ServeHTTP implements http.Handler.
func (b *Bridge) ServeHTTP(w http.ResponseWriter, r *http.Request) { b.mux.ServeHTTP(w, r) }

// Calls returns how many requests are being served.
func (b *Bridge) Calls() int { return int(b.calls.Load()) }

// Close ends all sessions. Open requests are answered as unavailable.
func (b *Bridge) Close() { b.sessions.Close() }

// Recheck ends the sessions whose callers have lost their rights.
func (b *Bridge) Recheck() { b.sessions.Recheck() }

// handle serves a path for some HTTP methods.
func (b *Bridge) handle(path string, serve func(*exchange) error, methods ...string) {
	handle(b.mux, path, func(w http.ResponseWriter, r *http.Request) {
		b.calls.Add(1)
		defer b.calls.Add(-1)
		x := &exchange{Bridge: b, w: w, r: r}
		if err := serve(x); err != nil && err != errServed {
			writeFailure(w, err, cmp.Or(x.correlation, correlationOf(r, "")))
		}
		if x.kept != nil {
			x.kept.Close()
			x.caller.Client.Account.Close()
		}
	}, methods...)
}

func handle(mux *http.ServeMux, path string, serve http.HandlerFunc, methods ...string) {
	mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		if !slices.Contains(methods, method) {
			w.Header().Set("Allow", strings.Join(methods, ", "))
			writeFailure(w, fail(WrongMethod, path+" takes "+strings.Join(methods, " and ")), correlationOf(r, ""))
			return
		}
		serve(w, r)
	})
}

// An exchange is an HTTP request and its response.
type exchange struct {
	*Bridge
	w           http.ResponseWriter
	r           *http.Request
	correlation string // "" until the body is read

	caller presence.Caller // set by admit
	kept   *budget.Reader  // set by admit: reads the body, and counts bytes until the request has been served
}

// errServed says that another replica has served the request.
var errServed = errors.New("another replica has served the request")

// admit determines which client sends the request. The error is errServed if the client's session
// is at another replica.
func (x *exchange) admit() error { return x.admitTo(x.o.Route) }

// admitTo is admit with another Route; nil: this replica serves the request.
func (x *exchange) admitTo(route presence.Route) error {
	var err error
	if x.caller, err = x.sessions.Admit(x.r); err != nil {
		return err
	}
	served := true // if route panics, too
	defer func() {
		if served {
			x.caller.Client.Account.Close()
		}
	}()
	if served = route != nil && route(x.w, x.r, &x.caller); served {
		return errServed
	}
	x.kept = x.sessions.Body(x.w, x.r, &x.caller)
	return nil
}

//go:embed openapi.json
var openapi string

//go:generate go test -run TestThePage . -update
//go:embed docs.html
var docs string

// OpenAPI returns the description of the API, in OpenAPI 3.1.
func OpenAPI() []byte { return []byte(openapi) }

// Documents serves /openapi.json and /docs. They contain nothing secret.
func Documents() http.Handler {
	mux := http.NewServeMux()
	handle(mux, "/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, "application/json", OpenAPI())
	}, http.MethodGet)
	_, style, _ := strings.Cut(docs, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	hash := sha256.Sum256([]byte(style)) // browsers then accept no other style
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
	handle(mux, "/docs", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Referrer-Policy", "no-referrer")
		write(w, http.StatusOK, "text/html; charset=utf-8", []byte(docs))
	}, http.MethodGet)
	return mux
}

// maxCorrelation is the longest correlation ID, in bytes.
const maxCorrelation = 128

// headerCorrelation is the header of requests and responses that contains the correlation ID.
const headerCorrelation = "X-Correlation-Id"

// correlationOf returns the correlation ID of a request: the one in its body, or else in its
// header, or else a new one.
func correlationOf(r *http.Request, inBody string) string {
	return cmp.Or(plain(inBody), plain(r.Header.Get(headerCorrelation)), rand.Text())
}

// plain returns a correlation ID without characters that could be misread in a log. It is a copy:
// the log keeps the ID of each call, and must not keep the request in memory.
func plain(id string) string {
	id = strings.Map(func(c rune) rune {
		if c <= ' ' || c > '~' || strings.ContainsRune("\"\\<>&'`", c) {
			return -1
		}
		return c
	}, id[:min(len(id), 4*maxCorrelation)])
	return strings.Clone(id[:min(len(id), maxCorrelation)])
}

// clientGone returns the failure of a request whose context ended before the answer came.
func clientGone(ctx context.Context) error {
	if expired(ctx) {
		return fail(Unauthenticated, context.Cause(ctx).Error())
	}
	return fail(Unavailable, "the client disconnected before the answer came")
}

// expired reports whether the credential of a request has expired.
func expired(ctx context.Context) bool { return ctx.Err() == context.DeadlineExceeded }
