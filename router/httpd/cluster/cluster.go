package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"toolman/router/httpd/cluster/engine"
	"toolman/router/httpd/cluster/hop"
	"toolman/router/httpd/cluster/names"
	"toolman/router/httpd/presence"
)

// Options configure a Cluster.
type Options struct {
	Engine  *engine.Engine
	Peers   *hop.Identity
	Replica string // ID of this replica, see NewReplica
	Lease   engine.Lease
	Idle    time.Duration // how long a session stays without requests; 0: 1 hour
	// Free reports which callers every replica can serve, because nothing is remembered of them:
	// programs, and clients of the modern era that cannot switch anything. Nil: none.
	Free func() (programs, clients bool)
	Log  *zap.Logger
}

// NewReplica returns the ID of a new replica: 8 random characters.
func NewReplica() string { return strings.ToLower(rand.Text()[:8]) }

const (
	beatEvery = time.Second
	beatTime  = 900 * time.Millisecond // for one answer of the engine
	// pauseLimit is shorter than the lease: a replica that has run within this time has a lease.
	pauseLimit = 2500 * time.Millisecond
	saveTime   = 250 * time.Millisecond // how long a response may wait until a record is stored
	engineTime = time.Second            // for other answers of the engine that a request waits for
	askTime    = time.Second            // for the answers of all other replicas, which may be busy
	probeTime  = 500 * time.Millisecond
	patience   = 5 * time.Second        // how long a request waits for an owner
	dying      = time.Second            // how long a replica that is killed may break off connections before nobody listens
	emptyTime  = 5 * time.Second        // how long a unit may have no session after it was claimed
	finishTime = 500 * time.Millisecond // for the last requests of other replicas
)

// A Cluster is this replica's part of a cluster. It is safe for use by many goroutines. It
// implements presence.Keeper.
type Cluster struct {
	duties
	retreat
	o      Options
	client *hop.Client
	keys   atomic.Pointer[names.Keys] // nil until the cluster is joined
	joined chan struct{}              // closed when keys are set
	counts counts

	began    time.Time
	lastTick atomic.Int64 // time since began when the loop ran last
	engineUp atomic.Bool

	failure atomic.Pointer[string] // of the engine, as logged last
	hash    atomic.Pointer[string] // of the configuration

	mu      sync.Mutex
	members map[string]*member // guarded by mu: the other replicas, by ID
	holdings
}

// holdings are what this replica has, and knows of others. Cluster.mu guards them.
type holdings struct {
	units      map[string]*unit       // those that this replica owns
	owners     owners                 // of units that others own
	everywhere map[string]freeSession // those of callers whom every replica serves, by key
	// ending has the sessions that have ended, by key, until the engine has forgotten them. The
	// channels are closed then.
	ending map[string]chan struct{}
}

// duties are what a replica does in the background.
type duties struct {
	beating   sync.Mutex // one Beat at a time
	learning  sync.Mutex // one refresh at a time
	keeping   sync.Mutex // one upkeep at a time
	verifying sync.Mutex // one verify at a time

	pauses   atomic.Int64 // how often this replica has not run for so long that it may have lost units
	verified atomic.Int64 // of pauses, those after which it has asked for its units
	rewrite  atomic.Bool  // the engine may have lost what this replica has written
}

// A retreat is what a Cluster needs to end.
type retreat struct {
	draining   atomic.Bool
	finished   atomic.Bool     // nothing that others forward is served any more
	open       atomic.Int64    // requests forwarded to others that are no streams
	serving    atomic.Int64    // requests forwarded by others that are no streams
	streams    context.Context // ends with EndStreams
	endStreams context.CancelFunc
}

// New returns the part of a replica in a cluster. Run has to follow.
func New(o Options) *Cluster {
	o.Idle = cmp.Or(o.Idle, time.Hour)
	if o.Free == nil {
		o.Free = func() (bool, bool) { return false, false }
	}
	c := &Cluster{o: o, client: hop.NewClient(o.Peers), joined: make(chan struct{}), began: time.Now(),
		members:  map[string]*member{},
		holdings: holdings{units: map[string]*unit{}, everywhere: map[string]freeSession{}, ending: map[string]chan struct{}{}}}
	c.SetConfig(o.Lease.Config)
	c.streams, c.endStreams = context.WithCancel(context.Background())
	return c
}

// SetConfig sets the hash of the configuration that this replica has now.
func (c *Cluster) SetConfig(hash string) { c.hash.Store(&hash) }

func (c *Cluster) config() string { return *c.hash.Load() }

// NewID returns the ID of a new legacy session of a caller, which begins on this replica.
func (c *Cluster) NewID(who *presence.Caller) string {
	k := c.keys.Load()
	if k == nil {
		return rand.Text() // nothing is served before the keys are there
	}
	return k.NewID(c.o.Replica, who)
}

// DigestKey returns the key of hashes that all replicas have to compute alike. It is zero before
// the cluster is joined, when nothing is served.
func (c *Cluster) DigestKey() (key [32]byte) {
	if k := c.keys.Load(); k != nil {
		key = k.Digests()
	}
	return key
}

// ttl is how long the engine keeps what is not renewed.
func (c *Cluster) ttl() time.Duration { return c.o.Idle + c.o.Idle/4 + time.Minute }

// Joined returns a channel that is closed when the replica has joined the cluster.
func (c *Cluster) Joined() <-chan struct{} { return c.joined }

// Run joins the cluster, however long that takes, and keeps the replica's lease until ctx ends.
func (c *Cluster) Run(ctx context.Context) {
	c.lastTick.Store(int64(time.Since(c.began)))
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	renewed := time.Now()
	for {
		c.tick(ctx)
		if time.Since(renewed) > c.o.Idle/4 {
			renewed = time.Now()
			go c.renew(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// tick renews the lease and learns who else is there.
func (c *Cluster) tick(ctx context.Context) {
	if c.overdue() {
		c.pauses.Add(1) // before lastTick: requests must not see neither
	}
	c.lastTick.Store(int64(time.Since(c.began)))
	if c.keys.Load() == nil && !c.join(ctx) {
		return
	}
	wasUp := c.engineUp.Load()
	lost, err := c.beat(ctx)
	if err != nil {
		return
	}
	if c.suspect() {
		go c.verify(ctx, c.pauses.Load())
	}
	if lost || !wasUp {
		c.rewrite.Store(true)
	}
	go c.upkeep(ctx)
}

// overdue reports whether the loop has not run for so long that the lease may have ended.
func (c *Cluster) overdue() bool {
	return time.Since(c.began)-time.Duration(c.lastTick.Load()) > pauseLimit
}

// join gets the keys of the cluster. It reports whether the replica has them.
func (c *Cluster) join(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, beatTime)
	defer cancel()
	key, err := c.o.Engine.Join(ctx)
	if err != nil {
		c.engineFails(err)
		return false
	}
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), beatTime)
	defer cancel()
	c.keys.Store(names.New(key))
	if _, err := c.beat(ctx); err != nil { // the members have to be known before anything is served
		c.keys.Store(nil)
		return false
	}
	close(c.joined)
	c.o.Log.Info("joined the cluster", zap.Int("replicas", c.Status().Replicas))
	return true
}

// beat renews the lease. It reports whether the engine has lost what this replica wrote.
func (c *Cluster) beat(ctx context.Context) (lost bool, err error) {
	c.beating.Lock()
	defer c.beating.Unlock()
	ctx, cancel := context.WithTimeout(ctx, beatTime)
	defer cancel()
	lease := c.o.Lease
	lease.Config = c.config()
	lease.Draining = c.draining.Load()
	began := time.Now()
	all, lost, err := c.o.Engine.Beat(ctx, lease)
	if errors.Is(err, engine.ErrRejoin) {
		var key [32]byte // another replica made the keys again, before this one could put them back
		if key, err = c.o.Engine.Join(ctx); err == nil {
			c.rejoin(key)
			all, lost, err = c.o.Engine.Beat(ctx, lease)
		}
	}
	if err != nil {
		if ctx.Err() == nil || !errors.Is(err, context.Canceled) {
			c.engineFails(err)
		}
		return false, err
	}
	c.counts.engineTime(time.Since(began))
	if !c.engineUp.Swap(true) {
		c.o.Log.Info("the cluster's engine answers")
	}
	c.update(all)
	return lost, nil
}

// refresh renews the lease to learn who is there, unless another request does so now.
func (c *Cluster) refresh() {
	if c.learning.TryLock() {
		defer c.learning.Unlock()
		c.beat(context.Background()) // without the engine, claim asks the others
	}
}

// rejoin takes over the keys of the cluster. IDs of sessions that this replica has made count no
// more.
func (c *Cluster) rejoin(key [32]byte) {
	c.mu.Lock()
	units := c.units
	c.units = map[string]*unit{}
	c.mu.Unlock()
	c.keys.Store(names.New(key))
	for _, u := range units {
		for _, s := range u.sessions {
			s.End(presence.ErrEnded)
		}
	}
}

// engineFails notes that the engine does not answer. It logs each reason once.
func (c *Cluster) engineFails(err error) {
	text := err.Error()
	was := c.failure.Swap(&text)
	if !c.engineUp.Swap(false) && was != nil && *was == text {
		return
	}
	what := "the cluster's engine does not answer; sessions go on, but are not protected against the end of a replica"
	if c.keys.Load() == nil {
		what = "the cluster cannot be joined"
	}
	c.o.Log.Error(what, zap.NamedError("err", err))
}

// Drain says that the replica is about to end: it takes no new units, and gives away those without
// anything under way that others can make again. It returns when it has none left, or ctx ends.
func (c *Cluster) Drain(ctx context.Context) {
	c.draining.Store(true)
	c.beat(ctx) // tells the others; if it fails they find out
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if c.engineUp.Load() {
			for _, s := range c.kept(none, stored) {
				s.Move()
			}
		}
		c.dropEmpty(0)
		if len(c.unitNames()) == 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Finish lets other replicas forward nothing to this one any more, and waits a moment for what they
// have forwarded. They keep no connections to it: if this replica closed one while a request is
// written, that might have been carried out.
func (c *Cluster) Finish() {
	c.finished.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), finishTime)
	defer cancel()
	c.Each(ctx, pathEnding, hop.Head{}, func(string, int, []byte, error) {})
	for c.serving.Load() > 0 && wait(ctx, time.Millisecond) {
	}
}

// Forwarding returns the number of forwarded requests that wait for their answers, without streams.
func (c *Cluster) Forwarding() int { return int(c.open.Load()) }

// EndStreams ends the forwarded streams that stay open between calls.
func (c *Cluster) EndStreams() { c.endStreams() }

// Close gives up the lease. All sessions have to have ended. Run must have returned.
func (c *Cluster) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), saveTime)
	defer cancel()
	c.o.Engine.Leave(ctx) // fails without the engine: the lease ends by itself then
	c.client.Close()
}
