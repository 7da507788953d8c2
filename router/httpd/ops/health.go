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
	Servers []serverHealth `json:"servers"`
}

type serverHealth struct {
	Name   string `json:"name"`
	Status string `json:"status"` // starting, ready, gone or per session
}

// ServeHTTP implements http.Handler.
func (h *Health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	reading(func(w http.ResponseWriter, _ *http.Request) {
		now := h.now()
		status := http.StatusOK
		if !now.OK {
			status = http.StatusServiceUnavailable
		}
		answer(w, status, now)
	}).ServeHTTP(w, r)
}

func (h *Health) now() health {
	now := health{Servers: []serverHealth{}}
	ready := 0
	for _, st := range h.gateway.Upstreams() {
		if st.State == router.Ready || st.State == router.Apart {
			ready++
		}
		now.Servers = append(now.Servers, serverHealth{st.Name, st.State.String()})
	}
	now.Problem = h.problem(ready, len(now.Servers))
	now.OK = now.Problem == ""
	return now
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
