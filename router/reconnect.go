package router

import (
	"maps"
	"slices"
	"time"

	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
)

// A server that toolman has not started may come, go and come back without toolman's doing.
// While it is gone it is tried again; the upstream that gets through takes the place of the
// one that is gone. A server that toolman has started, and that has ended, stays so.

// The pauses between two tries: each is twice the last. The first one comes again when the
// server was there for as long as the longest.
const (
	firstPause   = time.Second
	longestPause = 30 * time.Second
)

// comesBack reports whether the server is tried again when it is gone. One that is another
// for each session is not: nobody sees whether it could be reached, and the session would wait.
func (u *Upstream) comesBack() bool {
	return (u.Dial != nil || u.Socket != "") && !u.private.leased && u.For == nil && (u.private.replaces == nil || u.private.replaces.For == nil)
}

// begin brings an upstream up, and keeps its place filled if the server may come back.
func (r *Router) begin(u *Upstream) {
	if u.comesBack() {
		r.run.dismissed.Go(func() { r.supervise(u) })
		return
	}
	go u.run(r.run.reaper)
}

// supervise runs an upstream and those that come after it, until nobody wants the server any
// more.
func (r *Router) supervise(u *Upstream) {
	server := u.Server // running it may change that
	u.run(r.run.reaper)
	pause := firstPause
	for up := time.Now(); ; up = time.Now() {
		<-u.life.ended
		if time.Since(up) >= longestPause {
			pause = firstPause
		}
		u.triedIn(pause)
		select {
		case <-r.run.ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, longestPause)
		if !slices.Contains(r.all(), u) {
			return
		}
		u = r.try(server, u)
	}
}

// triedIn notes when the server is tried again, for those who ask.
func (u *Upstream) triedIn(pause time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.life.nextTry = time.Now().Add(pause)
}

// try makes another upstream for a server that is gone, and returns the one that has the
// place then.
func (r *Router) try(server Server, gone *Upstream) *Upstream {
	next := r.newUpstream(server, gone.Name, func() {})
	next.life.supersedes = gone
	next.private.owner.Store(gone.private.owner.Load())
	next.run(r.run.reaper)
	if slices.Contains(r.all(), next) {
		return next
	}
	if next.is(Ready) {
		next.stop()
	}
	<-next.life.ended
	next.mu.Lock()
	problem := next.problem
	next.mu.Unlock()
	gone.mu.Lock()
	gone.problem = problem
	gone.mu.Unlock()
	return gone
}

// news reports whether this is another reason to be gone than u has, which may be nil.
func (u *Upstream) news(problem string) bool {
	if u == nil {
		return true
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.problem != problem
}

// isCandidate reports whether the upstream has no place yet.
func (u *Upstream) isCandidate() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.life.supersedes != nil
}

// promote lets an upstream that is ready take the place that it was made for. It is false
// when that is no more.
func (u *Upstream) promote() bool {
	u.mu.Lock()
	gone := u.life.supersedes
	u.life.supersedes = nil
	u.mu.Unlock()
	return gone == nil || u.r.replace(gone, u)
}

func (r *Router) replace(gone, next *Upstream) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.Clone(r.all())
	at := slices.Index(all, gone)
	if at < 0 || r.run.ctx.Err() != nil {
		return false
	}
	next.private.owner.Store(gone.private.owner.Load())
	all[at] = next
	r.upstreams.Store(&all)
	for _, s := range r.sessions.list() {
		s.replace(gone, next)
	}
	return true
}

// replace gives the session an upstream in the place of one that is gone. What it has
// subscribed to stays subscribed.
func (s *Session) replace(gone, next *Upstream) {
	var out peer.Outgoing
	s.mu.Lock()
	s.exchangeLocked(gone, next)
	moveSubscriptions(s.subscriptions.subs, gone, next)
	for _, l := range s.subscriptions.listens {
		moveSubscriptions(l.subs, gone, next)
	}
	if next.passesSubscriptions() {
		for sub := range s.subscriptions.subs {
			if sub.from == next {
				next.tellURI(mcpwire.Subscribe, sub.uri, &out)
			}
		}
	}
	delete(s.subscriptions.follows, gone)
	s.followAllLocked(&out)
	s.mu.Unlock()
	out.Flush()
}

// exchangeLocked gives the session an upstream in the place of another, if it has that.
func (s *Session) exchangeLocked(old, next *Upstream) bool {
	i := slices.Index(s.servers.all, old)
	if i >= 0 {
		s.servers.all = slices.Clone(s.servers.all)
		s.servers.all[i] = next
	}
	return i >= 0
}

// renew has the session that an upstream was for get another one of its own: soon, if that
// was there for long.
func (u *Upstream) renew() {
	s := u.private.owner.Load()
	if s == nil || u.private.replaces == nil || !u.comesBack() {
		return
	}
	pause := longestPause
	if time.Since(u.life.startedAt) >= longestPause {
		pause = firstPause
	}
	u.triedIn(pause)
	time.AfterFunc(pause, func() {
		if s.shareAgain(u) {
			s.refresh(true) // where it gets its own
		}
	})
}

// shareAgain gives the session the shared upstream in the place of its own that is gone.
func (s *Session) shareAgain(own *Upstream) bool {
	s.r.mu.Lock() // nobody takes a place meanwhile
	defer s.r.mu.Unlock()
	all := s.r.all()
	i := slices.IndexFunc(all, func(u *Upstream) bool { return u.Name == own.Name && u.Fingerprint == own.Fingerprint })
	s.mu.Lock()
	defer s.mu.Unlock()
	if i < 0 || s.servers.releasing || !s.exchangeLocked(own, all[i]) {
		return false
	}
	s.r.dismiss(own)
	return true
}

func moveSubscriptions(subs map[subscription]string, from, to *Upstream) {
	for sub, asked := range maps.Clone(subs) {
		if sub.from == from {
			delete(subs, sub)
			subs[subscription{to, sub.uri}] = asked
		}
	}
}
