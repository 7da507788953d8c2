package router

import (
	"fmt"
	"slices"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/inputreq"
	"toolman/router/audit"
	"toolman/router/catalog"
)

// Share says who uses the process of a server.
type Share uint8

// The ways to share. Left to itself, a process is shared by all sessions unless the
// server could ask a client something: one of the handshake's eras does not say during
// which call, so that a client that can be asked has a process of its own.
const (
	ShareAuto Share = iota
	ShareAlways
	ShareNever
)

// ParseShare returns the way that has this name: auto, always or never.
func ParseShare(name string) Share {
	switch name {
	case "always":
		return ShareAlways
	case "never":
		return ShareNever
	}
	return ShareAuto
}

// startDedicatedLocked starts processes of the session's own in the place of shared ones that
// it must not share. Session.mu is held.
func (s *Session) startDedicatedLocked() {
	for i, shared := range s.servers.all {
		if !s.needsOwnLocked(shared) {
			continue
		}
		u := s.ownLocked(shared)
		if u == nil {
			continue
		}
		u.private.replaces = shared
		s.servers.all = slices.Clone(s.servers.all)
		s.servers.all[i] = u
		s.servers.awaited++
		go u.run(s.r.run.reaper)
	}
}

// ownLocked makes a process of the session's own. It returns nil if there can be none: the session
// then shares the process of the others, or goes without the server.
func (s *Session) ownLocked(shared *Upstream) *Upstream {
	if shared.For != nil {
		return s.instantiateLocked(shared)
	}
	u, err := s.r.private(shared, *shared.latest.Load(), s, s.ownSettled)
	switch {
	case err == nil:
		u.Era = shared.era()
	case shared.Share == ShareNever:
		s.goWithoutLocked(shared, err)
	default:
		shared.log.Warn("a session gets no process of its own; it shares one, and the server cannot ask it anything",
			zap.String("session", s.name()), zap.NamedError("err", err))
	}
	return u
}

// goWithoutLocked has the session go without a server, which is said once.
func (s *Session) goWithoutLocked(u *Upstream, err error) {
	u.log.Warn("this session goes without the server", zap.String("session", s.name()), zap.NamedError("err", err))
	if s.servers.missing == nil {
		s.servers.missing = map[*Upstream]error{}
	}
	s.servers.missing[u] = err
}

// withoutLocked refuses requests about a server that the session goes without; nil: it has the server.
func (s *Session) withoutLocked(u *Upstream) *refusal {
	err := s.servers.missing[u]
	if err == nil {
		return nil
	}
	return &refusal{code: jsonrpc.CodeInternalError, verdict: string(audit.Busy), text: fmt.Sprintf(
		"server %s is not available in this session: it has a process for each session (share = \"never\"), and %v; end another session and begin a new one", u.Name, err)}
}

// needsOwnLocked reports whether the session must not share this upstream, and may use it at all.
func (s *Session) needsOwnLocked(u *Upstream) bool {
	switch {
	case s.servers.releasing || s.peer.hello == nil && !s.peer.modern || !s.mayUseLocked(u):
		return false
	case u.For != nil:
		return s.servers.missing[u] == nil
	case s.who.Sole || u.private.owner.Load() != nil || !u.is(Ready):
		return false
	}
	switch u.Share {
	case ShareAlways:
		return false
	case ShareNever:
		return s.servers.missing[u] == nil
	}
	return !u.source.Modern && s.peer.hello != nil && inputreq.CanBeAsked(s.peer.hello.Capabilities)
}

// private makes an upstream like a shared one for one session. The error says of what there is too
// much. Whoever starts it has it ended.
func (r *Router) private(shared *Upstream, server Server, s *Session, settled func()) (*Upstream, error) {
	if err := r.quota.take(s.who.Account); err != nil {
		return nil, err
	}
	u := r.newUpstream(server, shared.Name, settled)
	u.source.Modern, u.life.awaited = shared.source.Modern, shared.life.awaited
	u.private.owner.Store(s)
	u.greeting.known, u.greeting.client = alreadyGreeted, s.clientLocked()
	return u, nil
}

var alreadyGreeted = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// clientLocked is what the session's own servers are told of its client.
func (s *Session) clientLocked() *mcpwire.Hello {
	if s.peer.hello != nil {
		return s.peer.hello
	}
	return &mcpwire.Hello{Version: mcpwire.Newest, Capabilities: declaredForModern}
}

// ownSettled is called when the session need not wait for a process of its own any more.
func (s *Session) ownSettled() {
	s.mu.Lock()
	s.servers.awaited--
	last := s.servers.awaited == 0
	s.mu.Unlock()
	if last {
		s.refresh(false)
		s.release()
	}
}

// refresh shows the session what its own servers offer now.
func (s *Session) refresh(announce bool) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if s.r.startup.opened.Load() {
		s.catalogChanged(s.r.catalog.Load(), announce)
	}
}

// offeredLocked is the catalog of the session's servers; shared is that of the shared ones.
func (s *Session) offeredLocked(shared *catalog.Catalog) *catalog.Catalog {
	if !slices.ContainsFunc(s.servers.all, func(u *Upstream) bool { return u.private.replaces != nil }) {
		return shared
	}
	return s.r.buildCatalog(s.servers.all)
}

// openLocked reports whether requests that need the catalog can be served.
func (s *Session) openLocked() bool { return s.r.startup.opened.Load() && s.servers.awaited == 0 }

// disownLocked has the session's own servers ended, and lets it have no more.
func (s *Session) disownLocked() {
	if s.servers.releasing {
		return
	}
	s.servers.releasing = true
	for _, u := range s.reachLocked() {
		if u.private.replaces != nil {
			s.r.dismiss(u)
		}
	}
}

func (s *Session) releaseDedicated() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.disownLocked()
}

// era is that of an upstream that is ready.
func (u *Upstream) era() mcpwire.Era {
	if u.source.Modern {
		return mcpwire.Modern
	}
	return mcpwire.Legacy
}

// dismiss ends a process that one session had for itself. The router waits for it when
// it closes.
func (r *Router) dismiss(u *Upstream) {
	r.run.dismissed.Go(func() {
		u.stop()
		r.quota.back(u.private.owner.Load().who.Account)
		if u.Over != nil && !u.private.leased {
			u.Over()
		}
	})
}

// is reports whether the upstream is in this state.
func (u *Upstream) is(state State) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.state == state
}
