package cluster

import (
	"sync/atomic"
	"time"
)

// counts are what the metrics show.
type counts struct {
	forwards     [2]atomic.Uint64 // of callers, and of legacy sessions
	forwardNanos atomic.Int64     // of all forwards together
	adopted      atomic.Uint64
	broken       atomic.Uint64
	beats        atomic.Uint64
	beatNanos    atomic.Int64
}

func (x *counts) forwarded(legacy bool, took time.Duration) {
	i := 0
	if legacy {
		i = 1
	}
	x.forwards[i].Add(1)
	x.forwardNanos.Add(int64(took))
}

func (x *counts) engineTime(took time.Duration) {
	x.beats.Add(1)
	x.beatNanos.Add(int64(took))
}

// A Status is the state of a replica's part of the cluster.
type Status struct {
	Replica  string
	Engine   bool // it answers
	Joined   bool
	Replicas int  // live ones, this one included
	Skew     bool // they have different configurations
	Owned    int  // units
	Sessions int  // with records

	Unprotected int    // sessions whose records the engine does not have
	Adopted     uint64 // sessions that were made again here
	Broken      uint64 // forwarded requests whose owner has died
	Forwarded   struct{ Callers, Sessions uint64 }
	ForwardTime time.Duration // of all of them together
	Beats       uint64        // answers of the engine to renewals of the lease
	BeatTime    time.Duration // of all of them together
}

// Status returns the state now.
func (c *Cluster) Status() Status {
	s := Status{Replica: c.o.Replica, Engine: c.engineUp.Load(), Joined: c.keys.Load() != nil, Replicas: 1,
		Adopted: c.counts.adopted.Load(), Broken: c.counts.broken.Load(), ForwardTime: time.Duration(c.counts.forwardNanos.Load()),
		Beats: c.counts.beats.Load(), BeatTime: time.Duration(c.counts.beatNanos.Load())}
	s.Forwarded.Callers, s.Forwarded.Sessions = c.counts.forwards[0].Load(), c.counts.forwards[1].Load()
	own := c.config()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.members {
		s.Replicas++
		s.Skew = s.Skew || m.lease.Config != own
	}
	s.Owned = len(c.units)
	for _, u := range c.units {
		s.Sessions += len(u.sessions)
		for _, one := range u.sessions {
			if !one.record.protected() {
				s.Unprotected++
			}
		}
	}
	return s
}
