package upstream

import (
	"fmt"
	"time"

	"toolman/router/dial"
	"toolman/spawn"
)

// Supervise runs the upstream and returns when it has ended for good. If the server ends and is to
// be started again, or connected to again, Supervise replaces the upstream by another one: after a
// pause that gets longer from attempt to attempt, until Stop is called or the router closes. The
// upstream keeps its place until the replacement is ready. A call that was pending is not sent to
// the replacement.
func (u *Upstream) Supervise(reaper *spawn.Reaper) {
	if !u.recall() {
		u.Run(reaper)
	} else if u = u.startRecalled(reaper); u == nil {
		return
	}
	policy, backoff := u.restartPolicy()
	if policy == dial.RestartNever {
		return
	}
	for {
		<-u.Ended()
		if !u.waitForRestart(policy, backoff, time.Since(u.lifecycle.startedAt)) {
			return
		}
		if u = u.runReplacement(reaper); u == nil {
			return
		}
	}
}

// runReplacement runs another upstream, which takes the place of u when it is ready, and returns it.
// If it does not become ready, runReplacement returns u, which is gone, with the problem of the
// other; nil if Stop was called or the router closes.
func (u *Upstream) runReplacement(reaper *spawn.Reaper) *Upstream {
	next := u.newReplacement()
	if next == nil {
		return nil
	}
	next.Run(reaper)
	if !next.isCandidate() {
		return next
	}
	if next.Is(Ready) {
		next.Stop()
	}
	<-next.Ended()
	u.lifecycle.startedAt = next.lifecycle.startedAt
	if u.Recalled() {
		u.endRecalled()
	}
	u.copyProblem(next)
	return u
}

// restartPolicy returns when the upstream is replaced, and the pauses before that. toolman always
// connects again to a server that it did not start. It never replaces a leased process: the next
// call gets another one. Only another configuration helps a server that cannot be used.
func (u *Upstream) restartPolicy() (dial.Restart, *dial.Backoff) {
	switch {
	case u.dedicated.leased || u.ForSession != nil || u.Unusable != "":
		return dial.RestartNever, nil
	case u.Dial != nil || u.Socket != "":
		return dial.RestartAlways, dial.Reconnects()
	}
	return u.Restart, dial.Restarts()
}

// waitForRestart waits until an upstream that has ended is to be replaced. up is how long it ran,
// or how long the last attempt to replace it took. It returns false if it is not to be replaced.
func (u *Upstream) waitForRestart(policy dial.Restart, backoff *dial.Backoff, up time.Duration) bool {
	u.mu.Lock()
	again, login := !u.closing && (policy == dial.RestartAlways || !u.lifecycle.finished), u.lifecycle.login != ""
	var pause time.Duration
	u.lifecycle.nextTry = time.Time{}
	if again && !login {
		pause = backoff.Next(up)
		u.lifecycle.failures, u.lifecycle.nextTry = backoff.Failures, time.Now().Add(pause)
	}
	u.mu.Unlock()
	switch {
	case !again:
		return false
	case login:
		return u.Login.Wait(u.env.Context, u.lifecycle.stopped)
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-u.lifecycle.stopped:
	case <-u.env.Context.Done():
	}
	return false
}

// newReplacement makes an upstream that takes the place of u, which is gone, when it is ready. It
// returns nil if Stop was called or the router closes.
func (u *Upstream) newReplacement() *Upstream {
	server := *u.Configured()
	if shared := u.Shared(); shared != nil && shared.ForSession == nil {
		server = *shared.Configured()
		server.Era = u.Configured().Era
	}
	if u.Shared() != nil {
		server.Memory = nil // as in NewDedicated
	}
	next := New(u.env, server, u.Name, func() {})
	next.lifecycle.supersedes = u
	next.greeting.known, next.greeting.client = u.greeting.known, u.greeting.client
	next.dedicated.many = u.dedicated.many
	next.SetShared(u.Shared())
	next.InheritOwner(u)
	next.Source.Modern = u.Source.Modern
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closing || u.env.Context.Err() != nil {
		return nil
	}
	u.lifecycle.replacement = next
	return next
}

// promote puts an upstream that is ready in the place of the one that it supersedes. It returns
// false if that one is no longer in use.
func (u *Upstream) promote() bool {
	gone := u.superseded()
	if gone == nil {
		return true
	}
	u.inheritItems(gone)
	replaced := false
	if owner := u.Owner(); owner != nil && u.Shared() != nil {
		replaced = owner.ReplaceServer(gone, u)
	} else {
		replaced = u.env.Router.Replace(gone, u)
	}
	if replaced {
		u.mu.Lock()
		u.lifecycle.supersedes = nil
		u.mu.Unlock()
	}
	return replaced
}

// isCandidate reports whether the upstream has not taken the place of another yet.
func (u *Upstream) isCandidate() bool { return u.superseded() != nil }

// superseded returns the upstream whose place u is to take; nil: none, or it has.
func (u *Upstream) superseded() *Upstream {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.lifecycle.supersedes
}

// InheritOwner gives the upstream the owner of another.
func (u *Upstream) InheritOwner(gone *Upstream) {
	u.dedicated.caller.Store(gone.dedicated.caller.Load())
}

// copyProblem replaces the reason why u is gone by that of another upstream.
func (u *Upstream) copyProblem(other *Upstream) {
	other.mu.Lock()
	problem, login := other.problem, other.lifecycle.login
	other.mu.Unlock()
	u.mu.Lock()
	isNew := u.problem != problem
	u.problem, u.lifecycle.login = problem, login
	u.mu.Unlock()
	if isNew && u.env.Context.Err() == nil {
		u.update()
	}
}

// adviceLocked returns what a caller can do about an upstream that is gone.
func (u *Upstream) adviceLocked() string {
	policy, _ := u.restartPolicy()
	switch failures := u.lifecycle.failures; {
	case u.Unusable != "":
		return "go on without it"
	case policy == dial.RestartNever || policy == dial.RestartOnFailure && u.lifecycle.finished:
		return "go on without it, or have toolman restarted"
	case u.Dial != nil || u.Socket != "":
		return "toolman tries to reach it again, now and then; go on without it, or try again later"
	case failures > 1:
		return fmt.Sprintf("it has ended %d times in a row; toolman starts it again, now and then; go on without it, or try again later", failures)
	}
	return "toolman starts it again; try again in a moment, or go on without it"
}
