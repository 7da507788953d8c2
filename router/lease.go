package router

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"go.uber.org/zap"

	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/inputreq"
	"toolman/router/limiter"
)

// A server of the legacy era does not say during which call it asks something. Where
// several clients of the modern era speak through one session, a call during which it
// may ask therefore has a process to itself while it is under way: it leases one. That is
// not for servers that are to be shared always or never, and keep what calls leave behind.

const (
	maxLeased = 8           // processes of one server for one session; further calls wait for them
	idleLease = time.Minute // how long one that is not needed is kept
)

// leaseLocked returns the upstream that a call goes to: the one that the session shares,
// or a process for this call alone.
func (s *Session) leaseLocked(u *Upstream, c *call, out *peer.Outgoing) *Upstream {
	if !s.who.Many || u.source.Modern || u.Share != ShareAuto || c.translation == nil || !inputreq.CanBeAsked(c.translation.capabilities) {
		return u
	}
	leased := s.leastLoadedLocked(u, inputreq.Askable(c.translation.capabilities))
	if leased == nil {
		return u
	}
	leased.private.used.Store(s.clock.Now())
	leased.raiseLogLevel(c.logs, nil, out)
	return leased
}

// leastLoadedLocked returns the process with the fewest calls, among those that were told of a client with
// these capabilities, and a new one if all have some; nil when there can be none. Servers ask by
// what they were told, and a client is asked nothing that it has not declared. A process that was
// told something else and has no calls makes room for a new one.
func (s *Session) leastLoadedLocked(shared *Upstream, capabilities json.RawMessage) (best *Upstream) {
	var spare *Upstream
	n, least := 0, 0
	for _, u := range s.servers.leased {
		if u.private.replaces != shared || u.is(Gone) {
			continue
		}
		n++
		load := u.pending.limiter.Load()
		switch same := bytes.Equal(u.greeting.client.Capabilities, capabilities); {
		case same && (best == nil || load < least):
			best, least = u, load
		case !same && load == 0:
			spare = u
		}
	}
	switch {
	case best != nil && (least == 0 || n >= maxLeased):
		return best
	case n >= maxLeased && spare == nil:
		return nil
	case n >= maxLeased:
		s.dismissLeasedLocked(spare)
	}
	u, err := s.r.private(shared, *shared.latest.Load(), s, func() {})
	if err != nil {
		shared.log.Warn("a call gets no process of its own; it shares one if it can, and the server cannot ask it anything",
			zap.String("session", s.name()), zap.NamedError("err", err))
		return best
	}
	u.Era, u.private.leased, u.private.replaces, u.pending.limiter = shared.era(), true, shared, limiter.NewClosed[queuedCall]()
	u.greeting.client = &mcpwire.Hello{Version: mcpwire.Newest, Capabilities: capabilities}
	s.servers.leased = append(s.servers.leased, u)
	go u.run(s.r.run.reaper)
	time.AfterFunc(idleLease, func() { s.expireLease(u) })
	return u
}

// expireLease ends a leased process that has not been needed for a while.
func (s *Session) expireLease(u *Upstream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.servers.releasing || !slices.Contains(s.servers.leased, u) {
		return
	}
	idle := time.Duration(s.clock.Now() - u.private.used.Load())
	if !u.is(Gone) && (u.pending.limiter.Load() > 0 || idle < idleLease) {
		time.AfterFunc(idleLease, func() { s.expireLease(u) })
		return
	}
	s.dismissLeasedLocked(u)
}

func (s *Session) dismissLeasedLocked(u *Upstream) {
	s.servers.leased = slices.DeleteFunc(s.servers.leased, func(other *Upstream) bool { return other == u })
	s.r.dismiss(u)
}

// reachLocked returns all upstreams that may have calls of the session.
func (s *Session) reachLocked() []*Upstream {
	return append(slices.Clip(s.servers.all), s.servers.leased...)
}

// openLease lets calls to a leased upstream, which is ready.
func (u *Upstream) openLease() {
	var out peer.Outgoing
	u.pending.limiter.Open()
	u.admitNext(&out)
	out.Flush()
}
