package breakpoint

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"toolman/jsonrpc/trace"
)

// Bounds of what is held, by all clients together.
const (
	DefaultHeld      = 1000
	DefaultHeldBytes = 64 << 20
	DefaultHold      = 10 * time.Minute
	maxMessage       = 8 << 20 // a longer message is not held
	maxRules         = 100     // of a client
)

// Options configure a Debugger. Zero values mean the defaults.
type Options struct {
	Held      int           // messages that are held at a time
	HeldBytes int           // and their bytes
	Hold      time.Duration // the longest time that a message is held, unless a delay asks for more
}

// A Debugger has the rules and the held messages of a process. Its methods may be called from any
// goroutine.
type Debugger struct {
	o     Options
	trace atomic.Pointer[trace.Writer]
	rules atomic.Pointer[[]*rule] // of all clients, in the order of their making
	busy  atomic.Bool             // there are rules or held messages

	mu      sync.Mutex
	clients []*Client        // guarded by mu
	held    map[uint64]*held // guarded by mu
	bytes   int              // guarded by mu: of held
	last    uint64           // guarded by mu: number of the latest held message
	closed  bool             // guarded by mu
}

// New returns a Debugger.
func New(o Options) *Debugger {
	o.Held, o.HeldBytes, o.Hold = cmp.Or(o.Held, DefaultHeld), cmp.Or(o.HeldBytes, DefaultHeldBytes), cmp.Or(o.Hold, DefaultHold)
	d := &Debugger{o: o, held: map[uint64]*held{}}
	d.rules.Store(&[]*rule{})
	return d
}

// TraceTo writes what is done to messages to a trace. w may be nil.
func (d *Debugger) TraceTo(w *trace.Writer) {
	if d != nil {
		d.trace.Store(w)
	}
}

// Close lets all held messages go on, and ends all rules. No more follow. d may be nil.
func (d *Debugger) Close() {
	if d == nil {
		return
	}
	d.mu.Lock()
	d.closed = true
	clients := slices.Clone(d.clients)
	d.mu.Unlock()
	for _, c := range clients {
		c.close("toolman is ending")
	}
}

// A Client is a user's connection to a Debugger.
type Client struct {
	d      *Debugger
	notify func(Event)
	random *rand.Rand // guarded by Debugger.mu
	rules  []*rule    // guarded by Debugger.mu
	last   int        // guarded by Debugger.mu: number of its latest rule
	gone   bool       // guarded by Debugger.mu
}

// Open returns a new Client. notify gets what happens to its messages, in order. It must neither
// block nor call the Debugger.
func (d *Debugger) Open(notify func(Event)) *Client {
	c := &Client{d: d, notify: notify, random: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))}
	d.mu.Lock()
	defer d.mu.Unlock()
	c.gone = d.closed
	if !c.gone {
		d.clients = append(d.clients, c)
	}
	return c
}

// Close ends the client's rules and lets its messages go on, in the order in which they came.
func (c *Client) Close() { c.close("the debugger has disconnected") }

func (c *Client) close(why string) {
	c.d.mu.Lock()
	c.gone, c.rules = true, nil
	c.d.clients = slices.DeleteFunc(c.d.clients, func(other *Client) bool { return other == c })
	c.d.updateLocked()
	c.d.mu.Unlock()
	c.releaseAll(why)
}

// Seed makes the rules with a percentage choose the same messages again.
func (c *Client) Seed(seed uint64) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	c.random = rand.New(rand.NewPCG(seed, 0))
}

// updateLocked publishes the rules, and whether Gates have anything to look for.
func (d *Debugger) updateLocked() {
	var all []*rule
	for _, c := range d.clients {
		for _, r := range c.rules {
			if !r.spentLocked() {
				all = append(all, r)
			}
		}
	}
	d.rules.Store(&all)
	d.busy.Store(len(all)+len(d.held) > 0)
}
