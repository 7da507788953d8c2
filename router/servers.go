package router

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"toolman/router/client"
	"toolman/router/policy"
	"toolman/router/upstream"
)

// current are the options that were given last. Of those that Reload does not change,
// Router.Options has the same.
func (r *Router) current() *Options { return r.live.Load() }

// policyFor is what a client may have by the options given last.
func (r *Router) policyFor(who client.Info) *policy.Policy {
	o := r.current()
	switch {
	case who.Policy != nil:
		return who.Policy
	case o.PolicyOf != nil && who.Agent != "":
		return o.PolicyOf(who.Agent)
	}
	return o.Policy
}

// Reload goes on with other options, for sessions that share their servers. Servers that
// are as they were go on, with their calls and sessions; others are ended, started, or
// both. What is active at start, policies, toolsets and pins are new for all sessions, whose
// clients hear of it; what they have switched stays. What is under way with items that a client
// may not have any more ends. The rest of the options does not change: it needs a new start.
func (r *Router) Reload(o Options) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.setOptions(&o)
	r.enableTiming(o.Servers)
	old := *r.upstreams.Load()
	next, fresh := r.matchServersLocked(old, o.Servers)
	r.upstreams.Store(&next)
	for _, u := range next {
		u.Reevaluate()
	}
	for _, s := range r.sessions.list() {
		s.Reload(old, next, r.policyFor(s.Who))
	}
	for _, u := range fresh {
		r.startUpstream(u)
	}
	for _, u := range old {
		if !slices.Contains(next, u) {
			u.Log.Info("the server is not in the configuration any more, or changed there; it is ended")
			u.SetProblem("the configuration was changed, and it is not in there any more as it was")
			r.pool.Dismissed.Go(u.Stop)
		}
	}
	if r.startup.opened.Load() {
		r.rebuildLocked()
		all := r.sessions.list()
		for _, s := range all {
			s.RevokeQueued() // first: the end of a call lets the next one through
		}
		for _, s := range all {
			s.Revoke()
		}
	}
}

// matchServersLocked returns the upstreams of other options, in their order, and those of them
// that are to be started.
func (r *Router) matchServersLocked(old []*upstream.Upstream, servers []upstream.Server) (next, fresh []*upstream.Upstream) {
	left := slices.Clone(old)
	for i, s := range servers {
		at := slices.IndexFunc(left, func(u *upstream.Upstream) bool {
			return u.Fingerprint == s.Fingerprint && u.Namespace == s.Namespace && !u.Is(upstream.Gone)
		})
		if at >= 0 {
			left[at].Reconfigure(&s)
			next, left = append(next, left[at]), slices.Delete(left, at, at+1)
			continue
		}
		u := upstream.New(r.env, s, nameFor(next, s, i), func() {})
		next, fresh = append(next, u), append(fresh, u)
	}
	return next, fresh
}

// A server that toolman has not started may come, go and come back without toolman's doing.
// While it is gone it is tried again; the upstream that gets through takes the place of the
// one that is gone. A server that toolman has started, and that has ended, stays so.

// startUpstream brings an upstream up, and keeps its place filled if the server may come back.
func (r *Router) startUpstream(u *upstream.Upstream) {
	if u.Reconnects() {
		r.pool.Dismissed.Go(func() { r.supervise(u) })
		return
	}
	go u.Run(r.pool.Reaper)
}

// supervise runs an upstream and those that come after it, until nobody wants the server any
// more.
func (r *Router) supervise(u *upstream.Upstream) {
	server := u.Server // running it may change that
	u.Run(r.pool.Reaper)
	pause := upstream.MinRetryPause
	for up := time.Now(); ; up = time.Now() {
		<-u.Ended()
		if time.Since(up) >= upstream.MaxRetryPause {
			pause = upstream.MinRetryPause
		}
		u.SetNextTry(pause)
		select {
		case <-r.run.ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, upstream.MaxRetryPause)
		if !slices.Contains(r.all(), u) {
			return
		}
		u = r.reconnect(server, u)
	}
}

// reconnect makes another upstream for a server that is gone, and returns the one that has the
// place then.
func (r *Router) reconnect(server upstream.Server, gone *upstream.Upstream) *upstream.Upstream {
	next := gone.NewReplacement(server)
	next.Run(r.pool.Reaper)
	if slices.Contains(r.all(), next) {
		return next
	}
	if next.Is(upstream.Ready) {
		next.Stop()
	}
	<-next.Ended()
	gone.CopyProblem(next)
	return gone
}

func (r *Router) replace(gone, next *upstream.Upstream) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.Clone(r.all())
	at := slices.Index(all, gone)
	if at < 0 || r.run.ctx.Err() != nil {
		return false
	}
	next.InheritOwner(gone)
	all[at] = next
	r.upstreams.Store(&all)
	for _, s := range r.sessions.list() {
		s.ReplaceServer(gone, next)
	}
	return true
}

// nameFor returns a name for a server that no other has.
func nameFor(others []*upstream.Upstream, s upstream.Server, i int) string {
	name := cmp.Or(s.Name, s.Namespace)
	if name == "" {
		name = fmt.Sprintf("server %d", i+1)
	}
	for _, u := range others {
		if u.Name == name {
			return fmt.Sprintf("%s (server %d)", name, i+1)
		}
	}
	return name
}

// all returns the upstreams, in the order of the file. The caller does not change it.
func (r *Router) all() []*upstream.Upstream { return *r.upstreams.Load() }
