package calls

import (
	"slices"
	"sync"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/router/audit"
	"toolman/router/limiter"
	"toolman/router/tracing"
)

// A Table holds the requests that a server has not answered, and sends those that wait for their
// turn. All methods may be called from any goroutine.
type Table struct {
	name    string        // of the server
	timeout time.Duration // call_timeout; 0: none
	clock   *tracing.Clock
	conn    Conn
	pending jsonrpc.Pending[Call]
	late    Recent                        // IDs of requests that were cancelled or timed out
	limiter *limiter.Limiter[*queuedCall] // nil: no limit

	mu       sync.Mutex
	watching bool // guarded by mu: a timer for checkTimeouts runs
}

// A Conn is what a Table needs of the connection to its server.
type Conn interface {
	// Send writes a message to the server, with the edits of out.
	Send(out *peer.Outgoing, m *jsonrpc.Message, note tracing.Note) error
	// SendFrame writes a frame of toolman's own to the server.
	SendFrame(out *peer.Outgoing, frame []byte, note tracing.Note) error
	// Dequeued is called before a call is sent that has waited for its turn.
	Dequeued(c *Call, out *peer.Outgoing)
	// Lingers reports whether the request of a cancelled call stays open for a while.
	Lingers() bool
	// GoneText returns the error text for requests when the server is gone.
	GoneText() string
}

// NewTable returns the table of a server that gets at most so many calls at once; 0: no limit.
func NewTable(name string, timeout time.Duration, most int, clock *tracing.Clock, conn Conn) *Table {
	return &Table{name: name, timeout: timeout, clock: clock, conn: conn, limiter: limiter.New[*queuedCall](most)}
}

// Hold makes calls wait until Open is called, and then lets them pass one at a time.
func (t *Table) Hold() { t.limiter = limiter.NewClosed[*queuedCall]() }

// Open admits calls that wait because of Hold.
func (t *Table) Open(out *peer.Outgoing) {
	t.limiter.Open()
	t.admitNext(out)
}

// Limited reports whether the number of calls is limited.
func (t *Table) Limited() bool { return t.limiter != nil }

// Counts returns how many calls are active and queued. There are none without a limit.
func (t *Table) Counts() limiter.Counts {
	if t.limiter == nil {
		return limiter.Counts{}
	}
	return t.limiter.Counts()
}

// Load returns the number of calls, active or queued, after Hold.
func (t *Table) Load() int { return t.limiter.Load() }

// Add adds a request and returns its ID; false if the table is closed.
func (t *Table) Add(c Call) (id uint64, ok bool) { return t.pending.Add(c) }

// Get returns the pending request with this ID.
func (t *Table) Get(id uint64) (c Call, ok bool) { return t.pending.Get(id) }

// Take removes and returns the pending request with this ID.
func (t *Table) Take(id uint64) (c Call, ok bool) { return t.pending.Take(id) }

// Forget removes a request that its caller has given up. Late then reports it.
func (t *Table) Forget(id uint64) {
	t.pending.Take(id)
	t.late.Add(id)
}

// Late reports whether a request with this ID was given up lately.
func (t *Table) Late(id uint64) bool { return t.late.Has(id) }

// NoteProgress records that the server has reported progress of a call.
func (t *Table) NoteProgress(id uint64) {
	if t.timeout > 0 {
		now := t.clock.Now()
		t.pending.Update(id, func(c *Call) { c.noteProgress(now) })
	}
}

// Len returns the number of pending requests.
func (t *Table) Len() int { return t.pending.Len() }

// Close fails all calls, pending or queued, and accepts no more.
func (t *Table) Close(why string, out *peer.Outgoing) {
	for _, c := range t.pending.Close() {
		if c.Caller != nil {
			c.Caller.Lost(c, why, audit.Gone, out)
		}
	}
	for _, c := range t.limiter.Close() {
		c.Caller.Lost(c.Call, why, audit.Gone, out)
	}
}

// A Recent remembers the last IDs of requests that were given up, to tell a late response from one
// that nobody has asked for.
type Recent struct {
	mu   sync.Mutex
	ids  [64]uint64
	next int
}

// Add adds an ID.
func (r *Recent) Add(id uint64) {
	r.mu.Lock()
	r.ids[r.next%len(r.ids)] = id
	r.next++
	r.mu.Unlock()
}

// Has reports whether id is one of them. It is false for 0, which no request has.
func (r *Recent) Has(id uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return id != 0 && slices.Contains(r.ids[:], id)
}
