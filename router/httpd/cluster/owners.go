package cluster

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"toolman/router/httpd/presence"
)

// A unit is one that this replica owns.
type unit struct {
	sessions map[string]*session // by key
	since    time.Time           // when it was claimed
}

// A session is one of a unit.
type session struct {
	presence.Kept
	record state
}

// A freeSession is one of a caller whom every replica serves.
type freeSession struct {
	presence.Kept
	who *presence.Caller
}

// A state tells whether the engine has the record of a session.
type state uint8

const (
	none    state = iota // there was no need for one so far
	stored               // it has the record
	unsaved              // it needs the record
	tooLong              // it does not take the record, unless that changes
)

// protected reports whether another replica can make the session again.
func (s state) protected() bool { return s == none || s == stored }

// owners remembers the owners of some units. It holds between maxOwners and twice as many.
type owners struct{ now, old map[string]string }

const maxOwners = 32 << 10

func (o *owners) get(unit string) string {
	if owner := o.now[unit]; owner != "" {
		return owner
	}
	owner := o.old[unit]
	if owner != "" {
		o.set(unit, owner)
	}
	return owner
}

func (o *owners) set(unit, owner string) {
	if len(o.now) >= maxOwners || o.now == nil {
		o.now, o.old = map[string]string{}, o.now
	}
	o.now[unit] = owner
}

func (o *owners) forget(unit string) {
	delete(o.now, unit)
	delete(o.old, unit)
}

// owns reports whether this replica owns a unit.
func (c *Cluster) owns(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.units[name] != nil
}

// own notes that this replica owns a unit.
func (c *Cluster) own(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ownLocked(name)
}

func (c *Cluster) ownLocked(name string) *unit {
	u := c.units[name]
	if u == nil {
		u = &unit{sessions: map[string]*session{}, since: time.Now()}
		c.units[name] = u
		c.owners.forget(name)
	}
	return u
}

// lose ends the sessions of a unit that another replica owns.
func (c *Cluster) lose(name, owner string) {
	c.mu.Lock()
	u := c.units[name]
	delete(c.units, name)
	c.owners.set(name, owner)
	c.mu.Unlock()
	if u == nil {
		return
	}
	c.o.Log.Warn("another replica has taken over sessions of this one", zap.String("owner", owner), zap.Int("sessions", len(u.sessions)))
	for _, s := range u.sessions {
		s.End(presence.ErrMoved)
	}
}

// unitNames returns the units that this replica owns.
func (c *Cluster) unitNames() (all []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name := range c.units {
		all = append(all, name)
	}
	return all
}

// known returns who owns a unit as far as this replica remembers: a replica that is not dead, or
// "".
func (c *Cluster) known(name, birthplace string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.units[name] != nil {
		return c.o.Replica
	}
	for _, id := range []string{c.owners.get(name), birthplace} {
		if c.members[id] != nil {
			return id
		}
	}
	return ""
}

func (c *Cluster) learn(name, owner string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.owners.set(name, owner)
}

func (c *Cluster) unlearn(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.owners.forget(name)
}

// errNoTaker says that this replica is ending, and no other takes the unit.
var errNoTaker = errors.New("this replica of toolman is ending, and there is no other; try again")

// claim makes this replica the owner of a unit that has none, or a dead one, and returns who owns
// it then. dead is a replica that is known to be dead, or "". The error is presence.ErrUnavailable
// if that cannot be decided now.
func (c *Cluster) claim(ctx context.Context, name, dead string, legacy bool) (owner string, err error) {
	ctx = context.WithoutCancel(ctx) // that the client has gone says nothing about the owner
	fresh := false
	if c.engineUp.Load() {
		ctx, cancel := context.WithTimeout(ctx, engineTime)
		owner, fresh, err = c.o.Engine.Claim(ctx, name, dead, c.ttl(), c.leaseless(dead)...)
		if cancel(); err != nil {
			c.o.Log.Warn("an owner cannot be looked up", zap.NamedError("err", err))
		}
	}
	switch {
	case err == nil && owner != "" && owner != c.o.Replica:
		c.learn(name, owner)
		return owner, nil
	case err == nil && owner != "" && !fresh:
		c.own(name)
		return owner, nil
	}
	// The engine does not answer, or knows no owner: it may have lost the last second.
	if other := c.askOwner(ctx, name); other != "" {
		if fresh {
			ctx, cancel := context.WithTimeout(ctx, engineTime)
			defer cancel()
			c.o.Engine.Yield(ctx, name, other, c.ttl()) // without it, other writes it with its next record
		}
		c.learn(name, other)
		return other, nil
	}
	if !fresh && legacy {
		return "", presence.ErrUnavailable
	}
	c.own(name)
	return c.o.Replica, nil
}

// verify asks who owns the units of this replica, after it has not run for a while, as often as
// pauses says. Nothing is served meanwhile.
func (c *Cluster) verify(ctx context.Context, pauses int64) {
	if !c.verifying.TryLock() {
		return
	}
	defer c.verifying.Unlock()
	var failed atomic.Bool
	inParallel(c.unitNames(), func(name string) {
		ctx, cancel := context.WithTimeout(ctx, engineTime)
		defer cancel()
		owner, _, err := c.o.Engine.Claim(ctx, name, "", c.ttl())
		if err != nil {
			failed.Store(true)
		} else if owner != c.o.Replica {
			c.lose(name, owner)
		}
	})
	if !failed.Load() {
		c.verified.Store(pauses)
	}
}

// suspect reports whether this replica has not run for a while, so that its units may have another
// owner.
func (c *Cluster) suspect() bool { return c.pauses.Load() != c.verified.Load() }

// inParallel calls f for each of some values, for 64 at a time.
func inParallel[T any](all []T, f func(T)) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for some := range slices.Chunk(all, 64) {
		for _, one := range some {
			wg.Go(func() { f(one) })
		}
		wg.Wait()
	}
}
