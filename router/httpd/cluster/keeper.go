package cluster

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

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
		if _, ok := k.birthplace(id, who); !ok {
			return nil, nil // not an ID of this cluster, or of another caller
		}
	}
	if c.isFree(key, who) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, engineTime)
	defer cancel()
	if c.engineUp.Load() {
		record, err := c.o.Engine.Get(ctx, key)
		if err == nil {
			if record != nil {
				c.counts.adopted.Add(1)
			} else if id != "" {
				c.drop(context.WithoutCancel(ctx), k.unitOf(id, who)) // it was claimed in vain
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

// Began implements presence.Keeper.
func (c *Cluster) Began(key string, who *presence.Caller, s presence.Kept) {
	if c.isFree(key, who) {
		return
	}
	name := c.keys.Load().unitOf(idIn(key), who)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ownLocked(name).sessions[key] = s
}

// Save implements presence.Keeper.
func (c *Cluster) Save(key string, who *presence.Caller, record []byte) error {
	if c.isFree(key, who) {
		return nil
	}
	name := c.keys.Load().unitOf(idIn(key), who)
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
	c.mu.Lock()
	defer c.mu.Unlock()
	if u := c.units[name]; u != nil {
		if u.unsaved[key] = err != nil; err == nil {
			delete(u.unsaved, key)
		}
	}
	return err
}

// Ended implements presence.Keeper.
func (c *Cluster) Ended(key string, who *presence.Caller, s presence.Kept, why error) {
	name := c.keys.Load().unitOf(idIn(key), who)
	c.mu.Lock()
	u := c.units[name]
	last := false
	if u != nil && u.sessions[key] == s {
		delete(u.sessions, key)
		delete(u.unsaved, key)
		if last = len(u.sessions) == 0; last {
			delete(c.units, name)
		}
	}
	c.mu.Unlock()
	if u == nil || why == presence.ErrMoved && !last {
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), engineTime)
		defer cancel()
		if why == presence.ErrMoved {
			c.o.Engine.Release(ctx, name) // without the engine, the lease ends by itself
		} else {
			c.o.Engine.Forget(ctx, name, key, last) // what is left ends with its time to live
		}
	}()
}

// isFree reports whether a key is that of a caller whom every replica serves.
func (c *Cluster) isFree(key string, who *presence.Caller) bool {
	return idIn(key) == "" && c.free(strings.HasPrefix(key, bridgeKey), who)
}

// bridgeKey begins the keys of sessions of the bridge.
const bridgeKey = "bridge "

// kept returns the sessions of a unit that this replica owns, or of all for "".
func (c *Cluster) kept(name string) (all []presence.Kept) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for n, u := range c.units {
		if name == "" || n == name {
			for _, s := range u.sessions {
				all = append(all, s)
			}
		}
	}
	return all
}

// unsaved returns the sessions whose records the engine does not have.
func (c *Cluster) unsaved() (all []presence.Kept) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, u := range c.units {
		for key := range u.unsaved {
			all = append(all, u.sessions[key])
		}
	}
	return all
}

// saveAll stores the records of all sessions, or of those that the engine does not have. It claims
// the units without sessions, too.
func (c *Cluster) saveAll(ctx context.Context, all bool) {
	if !c.saving.TryLock() {
		return
	}
	defer c.saving.Unlock()
	sessions := c.unsaved()
	if all {
		sessions = c.kept("")
	}
	var wg sync.WaitGroup
	for some := range slices.Chunk(sessions, 64) {
		for _, s := range some {
			wg.Go(s.Save)
		}
		wg.Wait()
		if ctx.Err() != nil || !c.engineUp.Load() {
			return
		}
	}
	if all && len(sessions) > 0 {
		c.o.Log.Info("the records of all sessions are stored again, because the engine may have lost some", zap.Int("sessions", len(sessions)))
	}
}

// renew prolongs the time to live of what this replica has in the engine. It gives up units that
// were claimed, but have got no session.
func (c *Cluster) renew(ctx context.Context) {
	c.dropEmpty(ctx, time.Minute)
	var units, keys []string
	c.mu.Lock()
	for name, u := range c.units {
		units = append(units, name)
		keys = slices.AppendSeq(keys, maps.Keys(u.sessions))
	}
	c.mu.Unlock()
	if missing, err := c.o.Engine.Renew(ctx, units, keys, c.ttl()); err == nil && missing {
		c.saveAll(ctx, true)
	}
}

// drop gives up a unit, unless it has a session.
func (c *Cluster) drop(ctx context.Context, name string) {
	c.mu.Lock()
	u := c.units[name]
	empty := u != nil && len(u.sessions) == 0
	if empty {
		delete(c.units, name)
	}
	c.mu.Unlock()
	if empty {
		c.o.Engine.Release(ctx, name) // what is left ends with its time to live
	}
}

// dropEmpty gives up units that were claimed at least a while ago, but have no session.
func (c *Cluster) dropEmpty(ctx context.Context, while time.Duration) {
	var empty []string
	c.mu.Lock()
	for name, u := range c.units {
		if len(u.sessions) == 0 && time.Since(u.since) >= while {
			empty = append(empty, name)
		}
	}
	c.mu.Unlock()
	for _, name := range empty {
		c.drop(ctx, name)
	}
}
