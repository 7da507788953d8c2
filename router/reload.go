package router

import (
	"slices"

	"toolman/router/client"
	"toolman/router/policy"
	"toolman/router/upstream"
)

// current are the options that were given last. Of those that Reload does not change,
// Router.Options has the same.
func (r *Router) current() *Options { return r.given.Load() }

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
	r.adopt(&o)
	r.time(o.Servers)
	old := *r.upstreams.Load()
	next, fresh := r.succeedLocked(old, o.Servers)
	r.upstreams.Store(&next)
	for _, u := range next {
		u.Reevaluate()
	}
	for _, s := range r.sessions.list() {
		s.Reload(old, next, r.policyFor(s.Who))
	}
	for _, u := range fresh {
		r.begin(u)
	}
	for _, u := range old {
		if !slices.Contains(next, u) {
			u.Log.Info("the server is not in the configuration any more, or changed there; it is ended")
			u.EndBecause("the configuration was changed, and it is not in there any more as it was")
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

// succeedLocked returns the upstreams of other options, in their order, and those of them
// that are to be started.
func (r *Router) succeedLocked(old []*upstream.Upstream, servers []upstream.Server) (next, fresh []*upstream.Upstream) {
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
