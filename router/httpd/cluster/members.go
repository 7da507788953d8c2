package cluster

import (
	"context"
	"net/http"
	"net/url"
	"sync"

	"go.uber.org/zap"

	"toolman/router/httpd/cluster/engine"
	"toolman/router/httpd/cluster/hop"
)

// A member is another replica.
type member struct {
	ID, Address string
	ctx         context.Context // ends when the replica is dead
	cancel      context.CancelFunc

	lease   engine.Lease // guarded by Cluster.mu
	missing bool         // guarded by Cluster.mu: it has no lease
	probing bool         // guarded by Cluster.mu
}

// update takes over who has a lease. Replicas that have none any more are asked whether they live.
func (c *Cluster) update(all []engine.Member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	leased := map[string]bool{}
	for _, m := range all {
		if leased[m.ID] = true; m.ID == c.o.Replica {
			continue
		}
		known := c.members[m.ID]
		if known == nil {
			known = &member{ID: m.ID, Address: m.Address}
			known.ctx, known.cancel = context.WithCancel(context.Background())
			c.members[m.ID] = known
			c.o.Log.Info("a replica has joined the cluster", zap.String("other", m.ID), zap.String("address", m.Address))
		}
		known.lease, known.missing = m.Lease, false
	}
	for id, m := range c.members {
		if leased[id] {
			continue
		}
		m.missing = true
		if !m.probing {
			m.probing = true
			go c.probe(m)
		}
	}
}

// probe buries a replica without a lease that does not answer.
func (c *Cluster) probe(m *member) {
	ctx, cancel := context.WithTimeout(m.ctx, probeTime)
	defer cancel()
	status, _, err := c.get(ctx, m, pathAlive, hop.Head{})
	c.mu.Lock()
	defer c.mu.Unlock()
	m.probing = false
	if (err != nil || status != http.StatusNoContent) && m.missing {
		c.buryLocked(m.ID)
	}
}

// bury notes that a replica is dead. What waits for its answers ends.
func (c *Cluster) bury(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.buryLocked(id)
}

func (c *Cluster) buryLocked(id string) {
	if m := c.members[id]; m != nil {
		c.o.Log.Warn("a replica of the cluster is gone", zap.String("other", id), zap.String("address", m.Address))
		m.cancel()
		delete(c.members, id)
	}
}

// member returns another replica; nil if it is dead or not known.
func (c *Cluster) member(id string) *member {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.members[id]
}

// leaseless returns the replicas that have no lease, but answer. dead does not count.
func (c *Cluster) leaseless(dead string) (all []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.members {
		if m.missing && m.ID != dead {
			all = append(all, m.ID)
		}
	}
	return all
}

// others returns the other replicas.
func (c *Cluster) others() (all []*member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.members {
		all = append(all, m)
	}
	return all
}

// successor returns a replica that takes new units while this one ends; nil if there is none.
func (c *Cluster) successor() *member {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.members { // in random order
		if !m.lease.Draining {
			return m
		}
	}
	return nil
}

// Paths of requests that replicas make on their own.
const (
	pathAlive = "/-/alive"
	pathOwns  = "/-/owns"
	// pathEnding is for a replica that is about to end.
	pathEnding = "/-/ending"
)

func (c *Cluster) get(ctx context.Context, m *member, path string, head hop.Head) (status int, body []byte, err error) {
	head.From, head.To, head.Hops = c.o.Replica, m.ID, 1
	return c.client.Get(ctx, m.Address, path, head)
}

// ends notes that a replica is about to end.
func (c *Cluster) ends(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.members[id]; m != nil {
		m.lease.Draining = true
		c.client.Drop(m.Address)
	}
}

// askOwner asks all other replicas whether they own a unit. It returns "" if none says so.
func (c *Cluster) askOwner(ctx context.Context, unit string) (owner string) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	path := pathOwns + "?unit=" + url.QueryEscape(unit)
	c.Each(ctx, path, hop.Head{}, func(replica string, status int, _ []byte, err error) {
		if err == nil && status == http.StatusNoContent {
			owner = replica
			cancel()
		}
	})
	return owner
}

// Each makes a GET request to each other replica, with the client of head, and calls got for each
// result, one at a time. It returns when all have answered.
func (c *Cluster) Each(ctx context.Context, path string, head hop.Head, got func(replica string, status int, body []byte, err error)) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	for _, m := range c.others() {
		wg.Go(func() {
			status, body, err := c.get(ctx, m, path, head)
			mu.Lock()
			defer mu.Unlock()
			got(m.ID, status, body, err)
		})
	}
	wg.Wait()
}
