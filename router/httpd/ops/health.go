package ops

import (
	"net/http"
	"sync/atomic"

	"toolman/router"
)

// A Gateway is what Health asks of a [router.Router].
type Gateway interface {
	Upstreams() []router.Status
	Started() <-chan struct{}
}

// Alive answers that the program runs, whatever its servers do: who gets no answer may
// restart it.
func Alive() http.Handler {
	return reading(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, struct {
			OK bool `json:"ok"`
		}{true})
	})
}

// Health tells whether clients should be sent here: with 200, or with 503 until the
// servers have had their time to start, when none of them is left, and when the
// program is about to end.
type Health struct {
	// Known returns the servers that the answer to a request names, nil for none; nil: no answer
	// names any.
	Known func(*http.Request) []router.Status

	gateway Gateway
	ending  atomic.Bool
}

// NewHealth returns the health of a gateway.
func NewHealth(g Gateway) *Health { return &Health{gateway: g} }

// End has every later answer be 503.
func (h *Health) End() { h.ending.Store(true) }

// A health is the answer.
type health struct {
	OK      bool           `json:"ok"`
	Problem string         `json:"problem,omitempty"`
	Servers []serverHealth `json:"servers,omitzero"` // nil: the client may not know of them
}

type serverHealth struct {
	Name   string `json:"name"`
	Status string `json:"status"` // starting, ready, gone or per session
}

// ServeHTTP implements http.Handler.
func (h *Health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	reading(func(w http.ResponseWriter, r *http.Request) {
		now := h.now()
		if h.Known != nil {
			now.Servers = named(h.Known(r))
		}
		status := http.StatusOK
		if !now.OK {
			status = http.StatusServiceUnavailable
		}
		answer(w, status, now)
	}).ServeHTTP(w, r)
}

func (h *Health) now() health {
	ready, all := 0, h.gateway.Upstreams()
	for _, st := range all {
		if st.State == router.Ready || st.State == router.Apart {
			ready++
		}
	}
	problem := h.problem(ready, len(all))
	return health{OK: problem == "", Problem: problem}
}

func named(servers []router.Status) (all []serverHealth) {
	if servers != nil {
		all = []serverHealth{}
	}
	for _, st := range servers {
		all = append(all, serverHealth{st.Name, st.State.String()})
	}
	return all
}

// problem says why no client should come; "" when they may.
func (h *Health) problem(ready, all int) string {
	if h.ending.Load() {
		return "toolman is ending"
	}
	select {
	case <-h.gateway.Started():
	default:
		return "the servers are starting"
	}
	if ready == 0 && all > 0 {
		return "no server is ready"
	}
	return ""
}
