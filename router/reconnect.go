package router

import (
	"slices"
	"time"

	"toolman/router/upstream"
)

// A server that toolman has not started may come, go and come back without toolman's doing.
// While it is gone it is tried again; the upstream that gets through takes the place of the
// one that is gone. A server that toolman has started, and that has ended, stays so.

// begin brings an upstream up, and keeps its place filled if the server may come back.
func (r *Router) begin(u *upstream.Upstream) {
	if u.ComesBack() {
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
	pause := upstream.FirstPause
	for up := time.Now(); ; up = time.Now() {
		<-u.Ended()
		if time.Since(up) >= upstream.LongestPause {
			pause = upstream.FirstPause
		}
		u.SetNextTry(pause)
		select {
		case <-r.run.ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, upstream.LongestPause)
		if !slices.Contains(r.all(), u) {
			return
		}
		u = r.try(server, u)
	}
}

// try makes another upstream for a server that is gone, and returns the one that has the
// place then.
func (r *Router) try(server upstream.Server, gone *upstream.Upstream) *upstream.Upstream {
	next := gone.Successor(server)
	next.Run(r.pool.Reaper)
	if slices.Contains(r.all(), next) {
		return next
	}
	if next.Is(upstream.Ready) {
		next.Stop()
	}
	<-next.Ended()
	gone.ExplainBy(next)
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
	next.Inherit(gone)
	all[at] = next
	r.upstreams.Store(&all)
	for _, s := range r.sessions.list() {
		s.ReplaceServer(gone, next)
	}
	return true
}
