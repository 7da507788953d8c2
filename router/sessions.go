package router

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"toolman/jsonrpc/peer"
	"toolman/router/client"
	"toolman/router/clientstate"
	"toolman/router/metatool"
	"toolman/router/session"
	"toolman/router/view"
)

// NewSession makes a session for a client. out takes what is sent to the client; it may implement
// client.Streams, client.CallObserver and client.CallChecker.
func (r *Router) NewSession(out peer.Sender, info client.Info) *session.Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	offers := r.MetaTools
	if info.MetaTools != nil {
		offers = offers.And(*info.MetaTools)
	}
	s := session.New(r.sessionEnv, out, info, r.policyFor(info), r.all(), offers, r.metaLocked(offers))
	s.View.Store(r.startView(r.catalog.Load(), s.Policy, info))
	if k, ok := clientstate.KeyOf(&s.Info); ok {
		s.Share(&r.clients, k)
	}
	r.sessions.gates.add(s)
	s.Label = r.sessions.add(s, r.Run)
	if info.Sole {
		for _, u := range r.all() {
			u.SetOwner(s, info.Many)
		}
	}
	return s
}

// metaLocked returns toolman's own tools for a selection, and keeps them for further sessions.
// Router.mu must be held.
func (r *Router) metaLocked(o view.MetaTools) map[string]*metatool.Tool {
	if _, ok := r.metas[o]; !ok {
		r.metas[o] = metatool.Tools(o)
	}
	return r.metas[o]
}

// Sessions returns the number of sessions.
func (r *Router) Sessions() int { return r.sessions.count() }

// sessions are the open sessions of a router.
type sessions struct {
	gates *clientGates // nil without --debug

	mu    sync.Mutex
	all   map[*session.Session]bool // guarded by mu
	total int                       // guarded by mu: number of sessions so far
}

// add adds a session and returns its label. The only session of a run has the name of the run.
func (x *sessions) add(s *session.Session, run string) (label string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.all == nil {
		x.all = map[*session.Session]bool{}
	}
	x.all[s] = true
	x.total++
	switch {
	case s.Info.Session != "":
		return s.Info.Session
	case s.Info.Sole:
		return run
	}
	return fmt.Sprintf("%s.%d", run, x.total)
}

func (x *sessions) remove(s *session.Session) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.all, s)
	x.gates.remove(s)
}

func (x *sessions) count() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.all)
}

// list returns all sessions in no particular order.
func (x *sessions) list() []*session.Session {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Collect(maps.Keys(x.all))
}
