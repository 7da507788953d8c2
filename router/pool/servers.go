package pool

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/inputreq"
	"toolman/mcpwire/sanitize"
	"toolman/router/audit"
	"toolman/router/budget"
	"toolman/router/client"
	"toolman/router/dial"
	"toolman/router/upstream"
	"toolman/spawn"
)

// A Pool is what the sessions of a router share to start processes of their own.
type Pool struct {
	Quota     Quota
	Reaper    *spawn.Reaper  // nil: none
	Dismissed sync.WaitGroup // goroutines that end servers or supervise them
}

// Servers are the upstreams that a session uses. Conn.Mu guards them.
type Servers struct {
	*client.Conn
	Pool      *Pool
	OnSettled func()                       // is called, without Conn.Mu, when Awaited becomes 0
	All       []*upstream.Upstream         // in the order of the configuration file
	Awaited   int                          // dedicated upstreams that requests wait for
	leased    []*lease                     // processes for one call at a time
	Releasing bool                         // DismissAll was called
	Missing   map[*upstream.Upstream]error // servers that the session goes without, and why
}

// StartDedicated replaces shared upstreams that the session must not share by dedicated ones.
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
		s.Pool.Dismissed.Go(func() { u.Supervise(s.Pool.Reaper) })
	}
}

// needsDedicated reports whether the session may use this upstream and must not share it.
func (s *Servers) needsDedicated(u *upstream.Upstream) bool {
	switch {
	case s.Releasing || s.Peer.Hello == nil && !s.Peer.Modern || !s.MayUse(u):
		return false
	case u.ForSession != nil:
		return s.Missing[u] == nil
	case s.Info.Sole || u.Owner() != nil || !u.Is(upstream.Ready):
		return false
	}
	switch u.Share {
	case dial.ShareAlways:
		return false
	case dial.ShareNever:
		return s.Missing[u] == nil
	}
	return !u.Source.Modern && s.Peer.Hello != nil && inputreq.CanBeAsked(s.Peer.Hello.Capabilities)
}

// startDedicated makes a dedicated upstream. If it cannot, it returns nil: the session then shares
// the upstream or goes without it.
func (s *Servers) startDedicated(shared *upstream.Upstream) *upstream.Upstream {
	if shared.ForSession != nil {
		return s.instantiate(shared)
	}
	u, err := s.newDedicated(shared, *shared.Configured(), upstream.DedicatedOptions{Client: s.hello(), Era: client.EraOf(shared.Source.Modern), Settled: s.dedicatedSettled})
	switch {
	case err == nil:
	case shared.Share == dial.ShareNever:
		s.markMissing(shared, err)
	default:
		shared.Log.Warn("no dedicated process for a session; it shares one, and the server cannot send it requests",
			zap.String("session", s.Name()), zap.NamedError("err", err))
	}
	return u
}

// instantiate makes a dedicated upstream of a server that is configured per session. It returns nil
// if the session goes without the server.
func (s *Servers) instantiate(shared *upstream.Upstream) *upstream.Upstream {
	server, err := shared.Configured().ForSession(s.Info.LoginAgent(), s.Info.Config)
	if err != nil {
		s.markMissing(shared, err)
		return nil
	}
	server.ForSession = nil
	u, err := s.newDedicated(shared, server, upstream.DedicatedOptions{Client: s.hello(), Settled: s.dedicatedSettled})
	if err != nil {
		if server.Release != nil {
			server.Release()
		}
		s.markMissing(shared, err)
	}
	return u
}

// newDedicated makes a dedicated upstream, which counts against the quota until Dismiss. The error
// says which limit is reached.
func (s *Servers) newDedicated(shared *upstream.Upstream, server upstream.Server, d upstream.DedicatedOptions) (*upstream.Upstream, error) {
	if err := s.Pool.Quota.Take(s.Info.Account); err != nil {
		return nil, err
	}
	d.Owner, d.Many = s.Caller, s.Info.Many
	return shared.NewDedicated(server, d), nil
}

// hello returns what dedicated servers are told of the client.
func (s *Servers) hello() *mcpwire.Hello {
	if s.Peer.Hello != nil {
		return s.Peer.Hello
	}
	return &mcpwire.Hello{Version: mcpwire.Newest, Capabilities: s.Peer.Declared}
}

// dedicatedSettled is called when the session no longer waits for a dedicated upstream. Conn.Mu
// must not be held.
func (s *Servers) dedicatedSettled() {
	s.Mu.Lock()
	s.Awaited--
	last := s.Awaited == 0
	s.Mu.Unlock()
	if last {
		s.OnSettled()
	}
}

// markMissing records and logs that the session goes without a server.
func (s *Servers) markMissing(u *upstream.Upstream, err error) {
	u.Log.Warn("this session goes without the server", zap.String("session", s.Name()), zap.NamedError("err", err))
	if s.Missing == nil {
		s.Missing = map[*upstream.Upstream]error{}
	}
	s.Missing[u] = err
}

// RefuseUnconfigured returns the refusal of the name of an item of a server that the session goes
// without because its configuration lacks something; nil if there is no such server.
func (s *Servers) RefuseUnconfigured(k mcpwire.Kind, name string) *client.Refusal {
	for u, err := range s.Missing {
		if u.ForSession != nil && s.Knows(u) && u.Source.Addresses(k, name) {
			return &client.Refusal{Code: jsonrpc.CodeInvalidParams, Verdict: string(audit.Unknown), Rule: fmt.Sprintf("this session has no server %s, because %v", u.Name, err), Text: fmt.Sprintf(
				"%s %s cannot be used: this session has no server %s, because %v", k, sanitize.Short(name), u.Name, err)}
		}
	}
	return nil
}

// RefuseMissing returns the refusal of requests about a server that the session goes without, or
// nil if the session has the server.
func (s *Servers) RefuseMissing(u *upstream.Upstream) *client.Refusal {
	err := s.Missing[u]
	if err == nil {
		return nil
	}
	return &client.Refusal{Code: jsonrpc.CodeInternalError, Verdict: string(audit.Busy), Rule: err.Error(), Text: fmt.Sprintf(
		"server %s is not available in this session: it has a process for each session (share = \"never\"), and %v; end another session and begin a new one", u.Name, err)}
}

// Replace puts next in the place of an upstream of the session that is gone. Upstreams of the
// session that stand in for it stand in for next. It returns false if the session has neither, or
// has ended.
func (s *Servers) Replace(gone, next *upstream.Upstream) (replaced bool) {
	if s.Releasing {
		return false
	}
	for _, u := range s.Reachable() {
		if u.Shared() == gone {
			u.SetShared(next)
			replaced = true
		}
	}
	if i := slices.Index(s.All, gone); i >= 0 {
		s.All = slices.Clone(s.All)
		s.All[i] = next
		replaced = true
	}
	return replaced
}

// Reconfigure replaces the upstreams of the session after a reload. It keeps the dedicated ones of
// servers that stay, and returns the others, which the caller must dismiss.
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

// ReleaseAll is DismissAll for callers that do not hold Conn.Mu.
func (s *Servers) ReleaseAll() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.DismissAll()
}

// DismissAll ends the dedicated upstreams of the session, and prevents new ones.
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

// Dismiss ends a dedicated upstream in the background. The router waits for it when it closes.
func (s *Servers) Dismiss(u *upstream.Upstream) {
	p, account := s.Pool, s.Info.Account
	p.Dismissed.Go(func() {
		u.Stop()
		p.Quota.release(account)
		if u.Release != nil {
			u.Release()
		}
	})
}

// A Quota counts dedicated processes. The zero value is ready to use.
type Quota struct {
	mu    sync.Mutex
	count int // guarded by mu
}

// maxDedicated is the limit on dedicated processes of all sessions together.
const maxDedicated = 256

// errProcesses says that maxDedicated is reached.
var errProcesses = fmt.Errorf("there are %d dedicated processes, which is the limit", maxDedicated)

// Take counts one more process, also in the client's account. It fails if a limit is reached.
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

// release counts one process less.
func (x *Quota) release(account *budget.Account) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.count--
	account.Give(budget.Processes, 1)
}

// Count returns the number of processes.
func (x *Quota) Count() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.count
}
