package pool

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"go.uber.org/zap"

	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/inputreq"
	"toolman/router/upstream"
)

// A server of the legacy era does not say during which call it asks something. Where
// several clients of the modern era speak through one session, a call during which it
// may ask therefore has a process to itself while it is under way: it leases one. That is
// not for servers that are to be shared always or never, and keep what calls leave behind.

const (
	maxLeased = 8           // processes of one server for one session; further calls wait for them
	idleLease = time.Minute // how long one that is not needed is kept
)

// A lease is a process for one call at a time.
type lease struct {
	*upstream.Upstream
	used int64 // when it was needed last, on the session's clock
}

// Lease returns the upstream that a call goes to: the one that the session shares,
// or a process for this call alone.
// capabilities are those that the call's client has declared.
func (s *Servers) Lease(u *upstream.Upstream, capabilities []byte, logs upstream.LogThreshold, out *peer.Outgoing) *upstream.Upstream {
	if !s.Who.Many || u.Source.Modern || u.Share != upstream.ShareAuto || !inputreq.CanBeAsked(capabilities) {
		return u
	}
	leased := s.leastLoaded(u, inputreq.Askable(capabilities))
	if leased == nil {
		return u
	}
	leased.used = s.Clock.Now()
	leased.RaiseLogLevel(logs, nil, out)
	return leased.Upstream
}

// leastLoaded returns the process with the fewest calls, among those that were told of a client with
// these capabilities, and a new one if all have some; nil when there can be none. Servers ask by
// what they were told, and a client is asked nothing that it has not declared. A process that was
// told something else and has no calls makes room for a new one.
func (s *Servers) leastLoaded(shared *upstream.Upstream, capabilities json.RawMessage) (best *lease) {
	var spare *lease
	n, least := 0, 0
	for _, u := range s.leased {
		if u.Shared() != shared || u.Is(upstream.Gone) {
			continue
		}
		n++
		load := u.Load()
		switch same := bytes.Equal(u.DeclaredCapabilities(), capabilities); {
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
		s.dismissLeased(spare)
	}
	u, err := s.newDedicated(shared, *shared.Configured(), upstream.DedicatedOptions{Client: &mcpwire.Hello{Version: mcpwire.Newest, Capabilities: capabilities},
		Era: shared.DetectedEra(), Leased: true, Settled: func() {}})
	if err != nil {
		shared.Log.Warn("a call gets no process of its own; it shares one if it can, and the server cannot ask it anything",
			zap.String("session", s.Name()), zap.NamedError("err", err))
		return best
	}
	l := &lease{Upstream: u}
	s.leased = append(s.leased, l)
	go u.Run(s.Pool.Reaper)
	time.AfterFunc(idleLease, func() { s.expireLease(l) })
	return l
}

// expireLease ends a leased process that has not been needed for a while.
func (s *Servers) expireLease(u *lease) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if s.Releasing || !slices.Contains(s.leased, u) {
		return
	}
	idle := time.Duration(s.Clock.Now() - u.used)
	if !u.Is(upstream.Gone) && (u.Load() > 0 || idle < idleLease) {
		time.AfterFunc(idleLease, func() { s.expireLease(u) })
		return
	}
	s.dismissLeased(u)
}

func (s *Servers) dismissLeased(u *lease) {
	s.leased = slices.DeleteFunc(s.leased, func(other *lease) bool { return other == u })
	s.Dismiss(u.Upstream)
}

// Reachable returns all upstreams that may have calls of the session.
func (s *Servers) Reachable() []*upstream.Upstream {
	all := slices.Clip(s.All)
	for _, l := range s.leased {
		all = append(all, l.Upstream)
	}
	return all
}
