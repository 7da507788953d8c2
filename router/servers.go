package router

import (
	"cmp"
	"fmt"
	"slices"

	"go.uber.org/zap"

	"toolman/router/client"
	"toolman/router/policy"
	"toolman/router/upstream"
)

// Reload applies new options while sessions continue, for sessions that share their servers. An
// unchanged server keeps running, with its calls and sessions. Changed servers are replaced, new
// ones are started, and missing ones are ended. All sessions get the new active items, policies,
// toolsets and pins, and their clients are notified; what a client has switched on or off stays so.
// Calls of items that a client may no longer use are ended. The other options need a restart.
func (r *Router) Reload(o Options) {
	defer r.serveDeferred()
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
		s.Reload(old, next, r.policyFor(s.Info))
	}
	for _, u := range fresh {
		r.startUpstream(u)
	}
	for _, u := range old {
		if !slices.Contains(next, u) {
			u.Log.Info("ending a server that was removed from the configuration or changed there")
			u.SetProblem("it was removed from the configuration or changed there")
			r.pool.Dismissed.Go(u.Stop)
		}
	}
	if r.startup.opened.Load() {
		r.rebuildLocked()
		all := r.sessions.list()
		for _, s := range all {
			s.RevokeQueued() // before Revoke, because the end of a call admits queued ones
		}
		for _, s := range all {
			s.Revoke()
		}
	}
}

// current returns the latest options. Those that Reload does not change are also in Router.Options.
func (r *Router) current() *Options { return r.live.Load() }

// policyFor returns the policy of a client under the current options.
func (r *Router) policyFor(info client.Info) *policy.Policy {
	o := r.current()
	switch {
	case info.Policy != nil:
		return info.Policy
	case o.PolicyOf != nil && info.Agent != "":
		return o.PolicyOf(info.Agent)
	}
	return o.Policy
}

// matchServersLocked returns the upstreams for the new servers, in their order, and those of them
// that must be started.
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
		if at := runningAs(left, &s); at >= 0 {
			left[at].Log.Warn("the server cannot be used as configured now; it runs on as before", zap.String("err", s.Unusable))
			next, left = append(next, left[at]), slices.Delete(left, at, at+1)
			continue
		}
		u := upstream.New(r.env, s, nameFor(next, s, i), func() {})
		next, fresh = append(next, u), append(fresh, u)
	}
	return next, fresh
}

// runningAs returns the index of the upstream that runs as a server that cannot be started now, or
// -1.
func runningAs(all []*upstream.Upstream, s *upstream.Server) int {
	return slices.IndexFunc(all, func(u *upstream.Upstream) bool {
		return s.Unusable != "" && u.Server.Name == s.Name && u.Namespace == s.Namespace && !u.Is(upstream.Gone) && !u.Is(upstream.PerSession)
	})
}

// startUpstream runs an upstream until it has ended for good.
func (r *Router) startUpstream(u *upstream.Upstream) {
	r.pool.Dismissed.Go(func() { u.Supervise(r.pool.Reaper) })
}

// replace puts next in the place of gone, for all sessions. It returns false if gone is no longer
// in use or the router closes.
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

// nameFor returns a unique name for server i.
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

// all returns the upstreams in the order of the configuration file. The caller must not modify the
// slice.
func (r *Router) all() []*upstream.Upstream { return *r.upstreams.Load() }
