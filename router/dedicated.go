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
	"toolman/router/client"
	"toolman/router/upstream"
)

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
		s.servers.all = slices.Clone(s.servers.all)
		s.servers.all[i] = u
		s.servers.awaited++
		go u.Run(s.r.run.guard)
	}
}

// ownLocked makes a process of the session's own. It returns nil if there can be none: the session
// then shares the process of the others, or goes without the server.
func (s *Session) ownLocked(shared *upstream.Upstream) *upstream.Upstream {
	if shared.For != nil {
		return s.instantiateLocked(shared)
	}
	u, err := s.privateLocked(shared, *shared.Configured(), upstream.Dedication{Client: s.clientLocked(), Era: shared.EraNow(), Settled: s.ownSettled})
	switch {
	case err == nil:
	case shared.Share == upstream.ShareNever:
		s.goWithoutLocked(shared, err)
	default:
		shared.Log.Warn("a session gets no process of its own; it shares one, and the server cannot ask it anything",
			zap.String("session", s.Name()), zap.NamedError("err", err))
	}
	return u
}

// goWithoutLocked has the session go without a server, which is said once.
func (s *Session) goWithoutLocked(u *upstream.Upstream, err error) {
	u.Log.Warn("this session goes without the server", zap.String("session", s.Name()), zap.NamedError("err", err))
	if s.servers.missing == nil {
		s.servers.missing = map[*upstream.Upstream]error{}
	}
	s.servers.missing[u] = err
}

// withoutLocked refuses requests about a server that the session goes without; nil: it has the server.
func (s *Session) withoutLocked(u *upstream.Upstream) *client.Refusal {
	err := s.servers.missing[u]
	if err == nil {
		return nil
	}
	return &client.Refusal{Code: jsonrpc.CodeInternalError, Verdict: string(audit.Busy), Text: fmt.Sprintf(
		"server %s is not available in this session: it has a process for each session (share = \"never\"), and %v; end another session and begin a new one", u.Name, err)}
}

// needsOwnLocked reports whether the session must not share this upstream, and may use it at all.
func (s *Session) needsOwnLocked(u *upstream.Upstream) bool {
	switch {
	case s.servers.releasing || s.Peer.Hello == nil && !s.Peer.Modern || !s.mayUseLocked(u):
		return false
	case u.For != nil:
		return s.servers.missing[u] == nil
	case s.Who.Sole || u.Owner() != nil || !u.Is(upstream.Ready):
		return false
	}
	switch u.Share {
	case upstream.ShareAlways:
		return false
	case upstream.ShareNever:
		return s.servers.missing[u] == nil
	}
	return !u.Source.Modern && s.Peer.Hello != nil && inputreq.CanBeAsked(s.Peer.Hello.Capabilities)
}

// privateLocked makes an upstream like a shared one for the session. The error says of what there is
// too much. Whoever starts it has it ended.
func (s *Session) privateLocked(shared *upstream.Upstream, server upstream.Server, d upstream.Dedication) (*upstream.Upstream, error) {
	if err := s.r.quota.take(s.Who.Account); err != nil {
		return nil, err
	}
	d.Owner, d.Many = s, s.Who.Many
	return shared.Dedicate(server, d), nil
}

// clientLocked is what the session's own servers are told of its client.
func (s *Session) clientLocked() *mcpwire.Hello {
	if s.Peer.Hello != nil {
		return s.Peer.Hello
	}
	return &mcpwire.Hello{Version: mcpwire.Newest, Capabilities: declaredForModern}
}

// ownSettled is called when the session need not wait for a process of its own any more.
func (s *Session) ownSettled() {
	s.Mu.Lock()
	s.servers.awaited--
	last := s.servers.awaited == 0
	s.Mu.Unlock()
	if last {
		s.refresh(false)
		s.release()
	}
}

// Refresh implements Caller.
func (s *Session) Refresh() { s.refresh(true) }

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
	if !slices.ContainsFunc(s.servers.all, func(u *upstream.Upstream) bool { return u.Shared() != nil }) {
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
		if u.Shared() != nil {
			s.dismiss(u)
		}
	}
}

func (s *Session) releaseDedicated() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.disownLocked()
}

// dismiss ends a process that one session had for itself. The router waits for it when
// it closes.
func (s *Session) dismiss(u *upstream.Upstream) {
	r, account := s.r, s.Who.Account
	r.run.dismissed.Go(func() {
		u.Stop()
		r.quota.back(account)
		if u.Over != nil {
			u.Over()
		}
	})
}
