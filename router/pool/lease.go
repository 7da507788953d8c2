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
	"toolman/router/apps"
	"toolman/router/calls"
	"toolman/router/client"
	"toolman/router/dial"
	"toolman/router/upstream"
)

const (
	maxLeased = 8           // leased processes of one server for one session; further calls wait
	idleLease = time.Minute // how long an idle one is kept
)

// A lease is a process that serves one call at a time. Servers with ShareAlways or ShareNever have
// none, because they keep state between calls.
type lease struct {
	*upstream.Upstream
	used int64 // when a call last leased it, on the router's clock
}

// Lease returns the upstream for a call: u, or a process leased for this call. capabilities are
// those that the call's client has declared; logs is the threshold of the log messages that it
// wants.
func (s *Servers) Lease(u *upstream.Upstream, capabilities []byte, logs calls.LogThreshold, out *peer.Outgoing) *upstream.Upstream {
	if !s.Info.Many || u.Source.Modern || u.Share != dial.ShareAuto || !inputreq.CanBeAsked(capabilities) {
		return u
	}
	leased := s.leastLoaded(u, apps.WithExtensions(inputreq.Askable(capabilities), capabilities))
	if leased == nil {
		return u
	}
	leased.used = s.Clock.Now()
	leased.Feed.RaiseLogLevel(logs, nil, out)
	return leased.Upstream
}

// leastLoaded returns the leased process with the fewest calls, or a new one if all have some. It
// returns nil if there can be none. Only a process that was told of the same capabilities fits: a
// server sends requests according to them, and a client must get none that it has not declared. An
// idle process with other capabilities is ended to make room for a new one.
func (s *Servers) leastLoaded(shared *upstream.Upstream, capabilities json.RawMessage) (best *lease) {
	var spare *lease
	n, least := 0, 0
	for _, u := range s.leased {
		if u.Shared() != shared || u.Is(upstream.Gone) {
			continue
		}
		n++
		load := u.Calls.Load()
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
		Era: client.EraOf(shared.Source.Modern), Leased: true, Settled: func() {}})
	if err != nil {
		shared.Log.Warn("no leased process for a call; it uses another one, or the server cannot send requests to its client",
			zap.String("session", s.Name()), zap.NamedError("err", err))
		return best
	}
	l := &lease{Upstream: u}
	s.leased = append(s.leased, l)
	go u.Run(s.Pool.Reaper)
	time.AfterFunc(idleLease, func() { s.expireLease(l) })
	return l
}

// expireLease ends a leased process that has been idle for idleLease.
func (s *Servers) expireLease(u *lease) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if s.Releasing || !slices.Contains(s.leased, u) {
		return
	}
	idle := time.Duration(s.Clock.Now() - u.used)
	if !u.Is(upstream.Gone) && (u.Calls.Load() > 0 || idle < idleLease) {
		time.AfterFunc(idleLease, func() { s.expireLease(u) })
		return
	}
	s.dismissLeased(u)
}

// dismissLeased ends a leased process.
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
