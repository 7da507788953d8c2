package cluster

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"toolman/router/httpd/cluster/engine"
	"toolman/router/httpd/presence"
)

var errEngineDown = errors.New("the cluster's engine does not answer")

// Load implements presence.Keeper.
func (c *Cluster) Load(ctx context.Context, key string, who *presence.Caller) ([]byte, error) {
	k, id := c.keys.Load(), idIn(key)
	if k == nil {
		return nil, presence.ErrUnavailable
	}
	if id != "" {
		if _, ok := k.Birthplace(id, who); !ok {
			return nil, nil // not an ID of this cluster, or of another caller
		}
	}
	if c.isFree(key, who) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), engineTime) // the client may go meanwhile
	defer cancel()
	if !c.awaitEnd(ctx, key) {
		return nil, presence.ErrUnavailable
	}
	if c.engineUp.Load() {
		record, err := c.o.Engine.Get(ctx, key)
		if err == nil {
			if record != nil {
				c.counts.adopted.Add(1)
			} else if id != "" {
				c.drop(k.UnitOf(id, who)) // it was claimed in vain
			}
			return record, nil
		}
		c.o.Log.Warn("the record of a session cannot be read", zap.NamedError("err", err))
	}
	if id == "" {
		return nil, nil // no other replica has the caller, see claim
	}
	return nil, presence.ErrUnavailable
}

// awaitEnd waits until the engine has forgotten an earlier session of this key. It reports false if
// ctx ended before.
func (c *Cluster) awaitEnd(ctx context.Context, key string) bool {
	c.mu.Lock()
	ended := c.ending[key]
	c.mu.Unlock()
	if ended == nil {
		return true
	}
	select {
	case <-ended:
		return true
	case <-ctx.Done():
		return false
	}
}

// Began implements presence.Keeper.
func (c *Cluster) Began(key string, who *presence.Caller, s presence.Kept) {
	free := c.isFree(key, who)
	name := c.keys.Load().UnitOf(idIn(key), who)
	c.mu.Lock()
	defer c.mu.Unlock()
	if free {
		c.everywhere[key] = freeSession{s, who}
		return
	}
	began := &session{Kept: s}
	if c.units[name] == nil {
		began.record = unsaved // the engine does not know the owner
	}
	c.ownLocked(name).sessions[key] = began
}

// Save implements presence.Keeper.
func (c *Cluster) Save(key string, who *presence.Caller, record []byte) error {
	if c.isFree(key, who) {
		return nil
	}
	name := c.keys.Load().UnitOf(idIn(key), who)
	owner, err := "", errEngineDown
	if c.engineUp.Load() {
		ctx, cancel := context.WithTimeout(context.Background(), saveTime)
		defer cancel()
		owner, err = c.o.Engine.Put(ctx, name, key, record, c.ttl())
	}
	if err == nil && owner != c.o.Replica {
		go c.lose(name, owner)
		return presence.ErrMoved
	}
	c.noteSaved(name, key, err)
	return err
}

// noteSaved notes whether the engine has taken the record of a session.
func (c *Cluster) noteSaved(name, key string, err error) {
	now := stored
	if errors.Is(err, engine.ErrTooLong) {
		now = tooLong
	} else if err != nil {
		now = unsaved
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.units[name]
	if u == nil || u.sessions[key] == nil {
		return
	}
	s := u.sessions[key]
	if now == tooLong && s.record != tooLong {
		c.o.Log.Warn("a session is not protected against the end of this replica", zap.NamedError("err", err))
	}
	s.record = now
}

// Ended implements presence.Keeper.
func (c *Cluster) Ended(key string, who *presence.Caller, s presence.Kept, why error) {
	name := c.keys.Load().UnitOf(idIn(key), who)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.everywhere[key].Kept == s {
		delete(c.everywhere, key)
	}
	u := c.units[name]
	if u == nil {
		return
	}
	if there := u.sessions[key]; there != nil && there.Kept != s {
		return // a newer session has the record
	}
	delete(u.sessions, key)
	last := len(u.sessions) == 0
	if last {
		delete(c.units, name)
	}
	switch {
	case why != presence.ErrMoved:
		ended := make(chan struct{})
		c.ending[key] = ended
		go c.forget(name, key, last, ended)
	case last:
		go c.release(name)
	}
}

// forget deletes the record of a session that has ended.
func (c *Cluster) forget(name, key string, last bool, ended chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), engineTime)
	defer cancel()
	c.o.Engine.Forget(ctx, name, key, last) // if it fails, what is left ends with its time to live
	close(ended)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending[key] == ended {
		delete(c.ending, key)
	}
}

// release lets any replica claim a unit.
func (c *Cluster) release(name string) {
	ctx, cancel := context.WithTimeout(context.Background(), engineTime)
	defer cancel()
	c.o.Engine.Release(ctx, name) // if it fails, what is left ends with its time to live
}

// isFree reports whether a key is that of a caller whom every replica serves.
func (c *Cluster) isFree(key string, who *presence.Caller) bool {
	return idIn(key) == "" && c.free(strings.HasPrefix(key, bridgeKey), who)
}

// bridgeKey begins the keys of sessions of the bridge.
const bridgeKey = "bridge "

// kept returns the sessions whose records are in one of some states; without any, all sessions.
func (c *Cluster) kept(states ...state) (all []presence.Kept) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, u := range c.units {
		for _, s := range u.sessions {
			if len(states) == 0 || slices.Contains(states, s.record) {
				all = append(all, s.Kept)
			}
		}
	}
	return all
}

// upkeep stores the records that the engine does not have, or all if it may have lost some. It
// gives up units that were claimed, but have got no session.
func (c *Cluster) upkeep(ctx context.Context) {
	if !c.keeping.TryLock() {
		return
	}
	defer c.keeping.Unlock()
	c.dropEmpty(emptyTime)
	c.endFree()
	all := c.rewrite.Swap(false)
	sessions := c.kept(unsaved)
	if all {
		sessions = c.kept()
	}
	inParallel(sessions, func(s presence.Kept) {
		if ctx.Err() == nil && c.engineUp.Load() {
			s.Save()
		}
	})
	switch {
	case !all:
	case ctx.Err() != nil || !c.engineUp.Load():
		c.rewrite.Store(true)
	case len(sessions) > 0:
		c.o.Log.Info("the records of all sessions are stored again, because the engine may have lost some", zap.Int("sessions", len(sessions)))
	}
}

// endFree ends the sessions of callers whom not every replica serves any more, since the
// configuration has changed. The owner of such a caller begins a session that others know of.
func (c *Cluster) endFree() {
	c.mu.Lock()
	all := maps.Clone(c.everywhere)
	c.mu.Unlock()
	for key, s := range all {
		if !c.isFree(key, s.who) {
			s.Move()
		}
	}
}

// renew prolongs the time to live of what this replica has in the engine.
func (c *Cluster) renew(ctx context.Context) {
	var units, keys, others []string
	c.mu.Lock()
	for name, u := range c.units {
		units = append(units, name)
		for key, s := range u.sessions {
			if s.record == stored {
				keys = append(keys, key)
			} else {
				others = append(others, key)
			}
		}
	}
	c.mu.Unlock()
	if missing, err := c.o.Engine.Renew(ctx, units, keys, c.ttl()); err == nil && missing {
		c.rewrite.Store(true)
	}
	c.o.Engine.Renew(ctx, nil, others, c.ttl()) // those that were adopted have records
}

// drop gives up a unit, unless it has a session.
func (c *Cluster) drop(name string) {
	c.mu.Lock()
	u := c.units[name]
	empty := u != nil && len(u.sessions) == 0
	if empty {
		delete(c.units, name)
	}
	c.mu.Unlock()
	if empty {
		c.release(name)
	}
}

// dropEmpty gives up units that were claimed at least a while ago, but have no session.
func (c *Cluster) dropEmpty(while time.Duration) {
	var empty []string
	c.mu.Lock()
	for name, u := range c.units {
		if len(u.sessions) == 0 && time.Since(u.since) >= while {
			empty = append(empty, name)
		}
	}
	c.mu.Unlock()
	inParallel(empty, c.drop)
}

// idIn returns the ID of the legacy session in the key of a presence.Keeper; "" if the key is that
// of a caller.
func idIn(key string) string {
	_, id, _ := strings.Cut(key, " ")
	if strings.Contains(id, "\n") {
		return ""
	}
	return id
}
