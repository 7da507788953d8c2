package upstream

import (
	"time"

	"go.uber.org/zap"

	"toolman/mcpwire"
	"toolman/router/recall"
	"toolman/spawn"
)

// recall offers the items that the server had in an earlier run of toolman, if they are known, and
// then returns true: the state is Cached, and another upstream runs the server in place of this one
// (see startRecalled). It waits until the client is known, since items may depend on it.
func (u *Upstream) recall() bool {
	if u.Memory == nil || !u.env.Recall || u.Is(PerSession) {
		return false
	}
	o := u.Memory.Recall("") // without waiting for the client, so that a server without a memory starts at once
	if o == nil {
		return false
	}
	close(u.lifecycle.begun) // it never runs
	select {
	case <-u.greeting.known:
	case <-u.lifecycle.stopped:
		u.settled()
		return true
	}
	if key := u.client().Key; o.Client != key {
		if better := u.Memory.Recall(key); better != nil {
			o = better
		}
	}
	u.Source.Modern = mcpwire.EraOf(o.Result.ProtocolVersion) == mcpwire.Modern
	u.declared.Store(&o.Result)
	for k, items := range o.Lists {
		u.items.lists.Keep(mcpwire.Kind(k), items)
	}
	u.mu.Lock()
	u.state = Cached
	u.items.recalled.Store(true)
	u.Feed.Recall()
	u.mu.Unlock()
	u.Log.Info("its items are offered from the catalog cache until it is ready", zap.Int("tools", len(o.Lists[mcpwire.Tool])), zap.Bool("lazy", u.Lazy))
	u.update()
	u.settled()
	return true
}

// client returns the kind of the client that the server is told of.
func (u *Upstream) client() recall.Client {
	return recall.ClientOf(u.firstEra(), u.greeting.client)
}

// Recalled reports whether the items are those of an earlier run: the state is Cached. Requests for
// them wait. u may be nil.
func (u *Upstream) Recalled() bool { return u != nil && u.items.recalled.Load() }

// Want starts a server that is started when it is first needed.
func (u *Upstream) Want() { u.lifecycle.wantedOnce.Do(func() { close(u.lifecycle.wanted) }) }

// afterLists is how long servers with recalled items start later than they could: while many start,
// the first lists would have to wait for a processor.
const afterLists = 50 * time.Millisecond

// startRecalled starts the server of an upstream with recalled items, a lazy one when it is first
// needed. It returns what runReplacement does.
func (u *Upstream) startRecalled(reaper *spawn.Reaper) *Upstream {
	var soon <-chan time.Time
	if !u.Lazy {
		soon = time.After(afterLists)
	}
	select {
	case <-soon:
	case <-u.lifecycle.wanted:
	case <-u.lifecycle.stopped:
	case <-u.env.Context.Done():
	}
	return u.runReplacement(reaper)
}

// endRecalled ends an upstream with recalled items, because the server could not be started.
func (u *Upstream) endRecalled() {
	u.mu.Lock()
	u.endLocked()
	u.mu.Unlock()
	u.items.recalled.Store(false)
	close(u.lifecycle.ended)
}

// inheritItems remembers which items of the upstream that u replaces were from an earlier run and
// are no more.
func (u *Upstream) inheritItems(gone *Upstream) {
	gone.mu.Lock()
	former := gone.items.former
	gone.mu.Unlock()
	if gone.Recalled() {
		former = u.items.lists.Lacking(&gone.items.lists)
	}
	u.mu.Lock()
	u.items.former = former
	u.mu.Unlock()
}

// offered returns what the server offered last in this run, and to which kind of client; nil if it
// was not ready or a list is not known as a whole.
func (u *Upstream) offered() (recall.Client, *recall.Offered) {
	u.mu.Lock()
	wasReady := u.lifecycle.startup > 0
	u.mu.Unlock()
	if !wasReady {
		return recall.Client{}, nil
	}
	items, whole := u.items.lists.Items()
	if !whole {
		return recall.Client{}, nil
	}
	return u.client(), &recall.Offered{Result: *u.result(), Lists: items}
}
