package ops

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"toolman/mcpwire/sanitize"
	"toolman/router/upstream"
)

// A Gateway is the part of a [router.Router] that the package uses.
type Gateway interface {
	Sessions() int
	Upstreams() []upstream.Status
	Started() <-chan struct{}
}

// Alive tells whether a supervisor should leave the program running: status 200 if so. It is 503
// only if every server is gone for good.
func Alive(g Gateway) http.Handler {
	return readOnly(func(w http.ResponseWriter, _ *http.Request) {
		if all := g.Upstreams(); len(all) > 0 && !slices.ContainsFunc(all, recoverable) {
			answer(w, http.StatusServiceUnavailable, health{Problem: "every server is gone for good; restart toolman"})
			return
		}
		answer(w, http.StatusOK, health{OK: true})
	})
}

// recoverable reports whether a server runs or may run again.
func recoverable(st upstream.Status) bool {
	return st.State != upstream.Gone || st.Retry > 0 || st.Login != ""
}

// Health tells whether clients should be sent here: status 200 if so. It is 503 while the servers
// are starting, when none of them runs, and when the program is about to end.
type Health struct {
	// Known returns the servers that the answer to a request names; nil: none. It may be nil.
	Known func(*http.Request) []upstream.Status
	// Cluster returns the state of the cluster for the answer, and why clients should not be sent
	// here because of it, or "". It may be nil.
	Cluster func() (problem string, state any)

	gateway Gateway
	ending  atomic.Bool
}

// NewHealth returns the health of a gateway.
func NewHealth(g Gateway) *Health { return &Health{gateway: g} }

// End makes all later answers 503.
func (h *Health) End() { h.ending.Store(true) }

// A health is the answer.
type health struct {
	OK      bool           `json:"ok"`
	Problem string         `json:"problem,omitempty"`
	Servers []serverHealth `json:"servers,omitzero"` // nil: the client may not know of them
	Cluster any            `json:"cluster,omitempty"`
}

type serverHealth struct {
	Name     string `json:"name"`
	Status   string `json:"status"`             // starting, ready, gone, login, per session or cached
	Problem  string `json:"problem,omitempty"`  // why it is gone
	Failures int    `json:"failures,omitempty"` // how often it has ended in a row
	Retry    int    `json:"retry_s,omitempty"`  // seconds until toolman tries to start or reach it again
}

// ServeHTTP implements http.Handler.
func (h *Health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	readOnly(func(w http.ResponseWriter, r *http.Request) {
		problem, cluster := h.problem(), any(nil)
		if h.Cluster != nil {
			why := ""
			why, cluster = h.Cluster()
			problem = cmp.Or(problem, why)
		}
		now, status := health{OK: problem == "", Problem: problem, Cluster: cluster}, http.StatusOK
		if !now.OK {
			status = http.StatusServiceUnavailable
		}
		if h.Known != nil {
			now.Servers = named(h.Known(r))
		}
		answer(w, status, now)
	}).ServeHTTP(w, r)
}

// maxProblem is the number of bytes of a server's problem that are shown.
const maxProblem = 300

func named(servers []upstream.Status) (all []serverHealth) {
	if servers != nil {
		all = []serverHealth{}
	}
	for _, st := range servers {
		now := serverHealth{Name: st.Name, Status: st.StateName()}
		if st.State == upstream.Gone {
			now.Problem, now.Failures, now.Retry = sanitize.Cut(st.Problem, maxProblem), st.Failures, int(st.Retry.Round(time.Second)/time.Second)
		}
		all = append(all, now)
	}
	return all
}

// problem says why clients should not be sent here; "" if they should.
func (h *Health) problem() string {
	if h.ending.Load() {
		return "toolman is ending"
	}
	select {
	case <-h.gateway.Started():
	default:
		return "the servers are starting"
	}
	all := h.gateway.Upstreams()
	if len(all) > 0 && !slices.ContainsFunc(all, usable) {
		return "no server is ready"
	}
	return ""
}

// usable reports whether a server serves clients, perhaps after they have waited for its start.
func usable(st upstream.Status) bool {
	return st.State == upstream.Ready || st.State == upstream.PerSession || st.State == upstream.Cached
}

// Probes serves GET /healthz and GET /health, which need no credential. Other paths are not found.
func Probes(h *Health) *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("/healthz", Alive(h.gateway))
	mux.Handle("/health", h)
	return mux
}

// readOnly serves GET and HEAD.
func readOnly(serve http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			fail(w, http.StatusMethodNotAllowed, r.URL.Path+" is read with GET")
			return
		}
		serve(w, r)
	})
}

// Only serves the requests that may have next. Others are refused with a reason.
func Only(may func(*http.Request) bool, why string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !may(r) {
			fail(w, http.StatusForbidden, why)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// fail answers with an error message.
func fail(w http.ResponseWriter, status int, why string) {
	answer(w, status, map[string]string{"error": why})
}

// answer writes a value as JSON, which must not be cached.
func answer(w http.ResponseWriter, status int, value any) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.Encode(value) // cannot fail
	write(w, status, "application/json", text.Bytes())
}

func write(w http.ResponseWriter, status int, kind string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write(body) // fails only if the client has disconnected
}

// Document serves a text that depends on the client, such as the JSON Schema of the configuration
// that it may send. An error is for a client that may not have it.
func Document(kind string, text func(*http.Request) ([]byte, error)) http.Handler {
	return readOnly(func(w http.ResponseWriter, r *http.Request) {
		text, err := text(r)
		if err != nil {
			fail(w, http.StatusNotFound, err.Error())
			return
		}
		write(w, http.StatusOK, kind, text)
	})
}
