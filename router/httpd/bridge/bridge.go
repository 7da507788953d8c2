package bridge

import (
	"bytes"
	"cmp"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"toolman/router"
	"toolman/router/budget"
	"toolman/router/httpd"
)

// Options say how a Bridge serves. The zero value is usable.
type Options struct {
	// Caller says who makes a request; nil: all requests have the same caller. An error that is
	// a *httpd.Denial has a status.
	Caller func(r *http.Request) (httpd.Caller, error)
	// Lasts is that of httpd.Options.
	Lasts func(c *httpd.Caller) bool
	// Correlate is told what a request is called, for the log; nil: nobody is.
	Correlate func(r *http.Request, correlation string)
	// Logs says what a request of an agent may read of the calls; nil: those of the agent.
	Logs func(r *http.Request, agent string) Logs
	// Status is what GET /tools?view=status answers a request; nil: there is no such view.
	Status func(r *http.Request) router.ToolStatus
	// Scrub returns JSON without secrets, which is the caller's; nil takes nothing out.
	Scrub func(text []byte) []byte
	// ActiveOnly has only active tools called.
	ActiveOnly bool
	// Budgets limit what each client can hold; nil: they have no limits.
	Budgets     *budget.Budgets
	MaxBody     int64         // bytes of a request; 0: 16 MiB
	MaxSessions int           // callers at once; 0: 10,000
	Idle        time.Duration // after how long without a request a caller is forgotten; 0: an hour
	Version     string        // of toolman
}

// A Bridge serves the API. It is an http.Handler for all of its paths.
type Bridge struct {
	r       *router.Router
	o       Options
	mux     *http.ServeMux
	schemas schemas
	calls   atomic.Int64
	ring    ring

	mu       sync.Mutex
	sessions map[httpd.CallerKey]*session // guarded by mu
	closed   bool                         // guarded by mu
}

var paths = [...]string{"/call_tool", "/execute", "/tools", "/logs"}

// New makes the bridge of a router.
func New(r *router.Router, o Options) *Bridge {
	o.MaxBody = cmp.Or(o.MaxBody, 16<<20)
	o.MaxSessions = cmp.Or(o.MaxSessions, 10_000)
	o.Idle = cmp.Or(o.Idle, time.Hour)
	if o.Caller == nil {
		o.Caller = func(*http.Request) (httpd.Caller, error) { return httpd.Caller{}, nil }
	}
	if o.Lasts == nil {
		o.Lasts = func(*httpd.Caller) bool { return true }
	}
	if o.Correlate == nil {
		o.Correlate = func(*http.Request, string) {}
	}
	if o.Logs == nil {
		o.Logs = func(*http.Request, string) Logs { return Logs{} }
	}
	if o.Budgets == nil {
		o.Budgets = budget.New(budget.Limits{}, budget.Limits{})
	}
	if o.Scrub == nil {
		o.Scrub = bytes.Clone
	}
	b := &Bridge{r: r, o: o, mux: http.NewServeMux(), sessions: map[httpd.CallerKey]*session{}}
	b.handle("/call_tool", b.callTool, http.MethodPost)
	b.handle("/execute", b.execute, http.MethodPost)
	b.handle("/tools", b.listTools, http.MethodGet, http.MethodPost)
	b.handle("/logs", b.listLogs, http.MethodGet)
	b.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeFailure(w, fail(NotFound, "there is nothing at this path; /openapi.json says what there is"), correlationOf(r, ""))
	})
	return b
}

// Paths returns the paths that the bridge serves.
func (b *Bridge) Paths() []string { return paths[:] }

// ServeHTTP implements http.Handler.
func (b *Bridge) ServeHTTP(w http.ResponseWriter, r *http.Request) { b.mux.ServeHTTP(w, r) }

// Calls returns how many requests are under way.
func (b *Bridge) Calls() int { return int(b.calls.Load()) }

// handle serves a path, by some methods of HTTP, and counts what is under way.
func (b *Bridge) handle(path string, serve http.HandlerFunc, methods ...string) {
	handle(b.mux, path, func(w http.ResponseWriter, r *http.Request) {
		b.calls.Add(1)
		defer b.calls.Add(-1)
		serve(w, r)
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
