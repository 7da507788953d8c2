package router

import (
	"cmp"

	"toolman/router/upstream"
)

// Servers that are another for each session: there is an upstream for them all that is
// Apart, has no process and offers nothing, and in its place each session has its own.

// instantiateLocked makes the session's own of a server that is another for each; nil when the
// session goes without it. The client may come again with what was missing.
func (s *Session) instantiateLocked(apart *upstream.Upstream) *upstream.Upstream {
	server, err := apart.Configured().For(s.Who.Config)
	if err != nil {
		s.goWithoutLocked(apart, err)
		return nil
	}
	server.For = nil
	u, err := s.privateLocked(apart, server, upstream.Dedication{Client: s.clientLocked(), Settled: s.ownSettled})
	if err != nil {
		if server.Over != nil {
			server.Over()
		}
		s.goWithoutLocked(apart, err)
	}
	return u
}

// Unstarted returns the name of a server that is another for each session, that this one may use and
// that starts with the first request of its client; "" if there is none. With a name it is about
// the servers that go by that.
func (s *Session) Unstarted(server string) string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for _, u := range s.servers.all {
		if u.For == nil || !u.Source.HasName(cmp.Or(server, u.Name)) || !s.mayUseLocked(u) {
			continue
		}
		own, err := u.For(s.Who.Config)
		if err != nil {
			continue // the session goes without it
		}
		if own.Over != nil {
			own.Over()
		}
		return u.Name
	}
	return ""
}
