package router

import (
	"fmt"

	"toolman/jsonrpc/peer"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/input"
	"toolman/router/upstream"
)

// revokeWaiting refuses, after a reload, the calls that wait for their turn at a server and are of
// what the client may not have any more.
func (s *Session) revokeWaiting() {
	var out peer.Outgoing
	s.Mu.Lock()
	for _, u := range s.servers.Reachable() {
		for _, c := range u.TakeQueued(func(c *upstream.Call) bool { return s.made(c) && s.withdrawnLocked(u, c.Entry) != "" }) {
			c.Audited.End(audit.Refused)
			input.Conclude(&c, s.input.Failing(s.withdrawnLocked(u, c.Entry), audit.Refused), &out)
		}
	}
	s.Mu.Unlock()
	out.Flush()
}

// revoke takes from a session what is under way with items that its client may not have any more:
// calls, rounds and subscriptions. What it may have goes on.
func (s *Session) revoke() {
	var out peer.Outgoing
	s.Mu.Lock()
	for _, u := range s.servers.Reachable() {
		s.revokeCallsLocked(u, &out)
	}
	s.input.FailRounds(s.withdrawnLocked, audit.Failed, &out)
	s.subscriptions.Revoke(&out)
	s.subscriptions.Follow(&out)
	s.Mu.Unlock()
	out.Flush()
}

// withdrawnLocked says why the client may not have an entry of an upstream any more, or "".
func (s *Session) withdrawnLocked(u *upstream.Upstream, e *catalog.Entry) string {
	if !s.MayUse(u) {
		return fmt.Sprintf("this client may have nothing of server %s any more; go on without it", u.Name)
	}
	c := s.View.Load().Catalog
	if e != nil {
		if d := c.IsDenied(e.Name, e.Item.Kind); d != nil && d.Source == e.Source {
			if _, verdict := c.Keeps(d); verdict == catalog.Denied {
				return c.Denial(d, d.Name)
			}
		}
	}
	return ""
}

// revokeCallsLocked ends the session's calls at an upstream that are of what it may not have any more.
func (s *Session) revokeCallsLocked(u *upstream.Upstream, out *peer.Outgoing) {
	ends := map[uint64]string{}
	u.EachCall(func(id uint64, c upstream.Call) {
		if s.made(&c) {
			if why := s.withdrawnLocked(u, c.Entry); why != "" {
				ends[id] = why
			}
		}
	})
	for id, why := range ends {
		s.input.BreakOff(u, id, "the client may not make this call any more", s.input.Failing(why, audit.Failed), out)
	}
}
