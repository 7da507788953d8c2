package pool

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/inputreq"
	"toolman/router/audit"
	"toolman/router/budget"
	"toolman/router/client"
	"toolman/router/upstream"
	"toolman/spawn"
)

// A Pool is what the private processes of all sessions share.
type Pool struct {
	Quota     Quota
	Reaper    *spawn.Reaper  // nil: none
	Dismissed sync.WaitGroup // servers that are being ended, and those that are kept up
}

// Servers are those that a session uses. They are guarded by Conn.Mu.
type Servers struct {
	*client.Conn
	Pool      *Pool
	OnSettled func()                       // is called when there are none of its own any more that requests wait for
	All       []*upstream.Upstream         // in the order of the file
	Awaited   int                          // servers of its own that requests wait for
	leased    []*lease                     // processes for one call at a time
	Releasing bool                         // those are being ended
	Missing   map[*upstream.Upstream]error // servers that it cannot have, and why
}

// StartDedicated starts processes of the session's own in the place of shared ones that
// it must not share. Conn.Mu is held.
func (s *Servers) StartDedicated() {
	for i, shared := range s.All {
		if !s.needsDedicated(shared) {
			continue
		}
		u := s.startDedicated(shared)
		if u == nil {
			continue
		}
		s.All = slices.Clone(s.All)
		s.All[i] = u
		s.Awaited++
		go u.Run(s.Pool.Reaper)
	}
}

// startDedicated makes a process of the session's own. It returns nil if there can be none: the session
// then shares the process of the others, or goes without the server.
func (s *Servers) startDedicated(shared *upstream.Upstream) *upstream.Upstream {
	if shared.For != nil {
		return s.instantiate(shared)
	}
	u, err := s.newDedicated(shared, *shared.Configured(), upstream.DedicatedOptions{Client: s.hello(), Era: shared.DetectedEra(), Settled: s.dedicatedSettled})
	switch {
	case err == nil:
	case shared.Share == upstream.ShareNever:
		s.markMissing(shared, err)
	default:
		shared.Log.Warn("a session gets no process of its own; it shares one, and the server cannot ask it anything",
			zap.String("session", s.Name()), zap.NamedError("err", err))
	}
	return u
}

// markMissing has the session go without a server, which is said once.
func (s *Servers) markMissing(u *upstream.Upstream, err error) {
	u.Log.Warn("this session goes without the server", zap.String("session", s.Name()), zap.NamedError("err", err))
	if s.Missing == nil {
		s.Missing = map[*upstream.Upstream]error{}
	}
	s.Missing[u] = err
}

// RefuseMissing refuses requests about a server that the session goes without; nil: it has the server.
func (s *Servers) RefuseMissing(u *upstream.Upstream) *client.Refusal {
	err := s.Missing[u]
	if err == nil {
		return nil
	}
	return &client.Refusal{Code: jsonrpc.CodeInternalError, Verdict: string(audit.Busy), Text: fmt.Sprintf(
		"server %s is not available in this session: it has a process for each session (share = \"never\"), and %v; end another session and begin a new one", u.Name, err)}
}

// needsDedicated reports whether the session must not share this upstream, and may use it at all.
func (s *Servers) needsDedicated(u *upstream.Upstream) bool {
	switch {
	case s.Releasing || s.Peer.Hello == nil && !s.Peer.Modern || !s.MayUse(u):
		return false
	case u.For != nil:
		return s.Missing[u] == nil
	case s.Who.Sole || u.Owner() != nil || !u.Is(upstream.Ready):
		return false
	}
	switch u.Share {
	case upstream.ShareAlways:
		return false
	case upstream.ShareNever:
		return s.Missing[u] == nil
	}
	return !u.Source.Modern && s.Peer.Hello != nil && inputreq.CanBeAsked(s.Peer.Hello.Capabilities)
}

// newDedicated makes an upstream like a shared one for the session. The error says of what there is
// too much. Whoever starts it has it ended.
func (s *Servers) newDedicated(shared *upstream.Upstream, server upstream.Server, d upstream.DedicatedOptions) (*upstream.Upstream, error) {
	if err := s.Pool.Quota.Take(s.Who.Account); err != nil {
		return nil, err
	}
	d.Owner, d.Many = s.Caller, s.Who.Many
	return shared.NewDedicated(server, d), nil
}

// hello is what the session's own servers are told of its client.
func (s *Servers) hello() *mcpwire.Hello {
	if s.Peer.Hello != nil {
		return s.Peer.Hello
	}
	return &mcpwire.Hello{Version: mcpwire.Newest, Capabilities: client.DeclaredForModern}
}

// dedicatedSettled is called when the session need not wait for a process of its own any more.
func (s *Servers) dedicatedSettled() {
	s.Mu.Lock()
	s.Awaited--
	last := s.Awaited == 0
	s.Mu.Unlock()
	if last {
		s.OnSettled()
	}
}

// DismissAll has the session's own servers ended, and lets it have no more.
func (s *Servers) DismissAll() {
	if s.Releasing {
		return
	}
	s.Releasing = true
	for _, u := range s.Reachable() {
		if u.Shared() != nil {
			s.Dismiss(u)
		}
	}
}

func (s *Servers) ReleaseAll() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.DismissAll()
}

// Dismiss ends a process that one session had for itself. The router waits for it when
// it closes.
func (s *Servers) Dismiss(u *upstream.Upstream) {
	p, account := s.Pool, s.Who.Account
	p.Dismissed.Go(func() {
		u.Stop()
		p.Quota.release(account)
		if u.Release != nil {
			u.Release()
		}
	})
}

// Replace gives the session an upstream in the place of another, if it has that.
func (s *Servers) Replace(old, next *upstream.Upstream) bool {
	i := slices.Index(s.All, old)
	if i >= 0 {
		s.All = slices.Clone(s.All)
		s.All[i] = next
	}
	return i >= 0
}

// Reconfigure gives the session the servers of another configuration. It keeps its own ones of servers that
// stay, and returns those that are to be ended.
func (s *Servers) Reconfigure(next []*upstream.Upstream) (ended []*upstream.Upstream) {
	own := map[*upstream.Upstream]*upstream.Upstream{}
	for _, u := range s.All {
		if u.Shared() != nil {
			own[u.Shared()] = u
		}
	}
	s.All = slices.Clone(next)
	for i, u := range next {
		if own[u] != nil && s.MayUse(u) {
			s.All[i] = own[u]
			own[u].Reevaluate()
			delete(own, u)
		}
	}
	ended = slices.Collect(maps.Values(own))
	s.leased = slices.DeleteFunc(s.leased, func(l *lease) bool {
		gone := !slices.Contains(next, l.Shared()) || !s.MayUse(l.Upstream)
		if gone {
			ended = append(ended, l.Upstream)
		}
		return gone
	})
	return ended
}

// instantiate makes the session's own of a server that is another for each; nil when the
// session goes without it. The client may come again with what was missing.
func (s *Servers) instantiate(apart *upstream.Upstream) *upstream.Upstream {
	server, err := apart.Configured().For(s.Who.Config)
	if err != nil {
		s.markMissing(apart, err)
		return nil
	}
	server.For = nil
	u, err := s.newDedicated(apart, server, upstream.DedicatedOptions{Client: s.hello(), Settled: s.dedicatedSettled})
	if err != nil {
		if server.Release != nil {
			server.Release()
		}
		s.markMissing(apart, err)
	}
	return u
}

// Unstarted is Session.Unstarted: it returns the name of a server that is another for each session, that this one may use and
// that starts with the first request of its client; "" if there is none. With a name it is about
// the servers that go by that.
func (s *Servers) Unstarted(server string) string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for _, u := range s.All {
		if u.For == nil || !u.Source.HasName(cmp.Or(server, u.Name)) || !s.MayUse(u) {
			continue
		}
		own, err := u.For(s.Who.Config)
		if err != nil {
			continue // the session goes without it
		}
		if own.Release != nil {
			own.Release()
		}
		return u.Name
	}
	return ""
}

// maxDedicated is how many processes all sessions may have together that one session has for itself.
const maxDedicated = 256

var errProcesses = fmt.Errorf("there are %d processes that single sessions have for themselves, as many as there may be", maxDedicated)

// Quota counts processes that one session has for itself. The zero value is ready to use.
type Quota struct {
	mu    sync.Mutex
	count int // guarded by mu
}

// Take counts one more, of the account of a client.
func (x *Quota) Take(account *budget.Account) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.count >= maxDedicated {
		return errProcesses
	}
	if err := account.Take(budget.Processes, 1); err != nil {
		return err
	}
	x.count++
	return nil
}

// release counts one less.
func (x *Quota) release(account *budget.Account) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.count--
	account.Give(budget.Processes, 1)
}

func (x *Quota) Count() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.count
}
