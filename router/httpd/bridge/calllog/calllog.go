package calllog

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"toolman/mcpwire/sanitize"
	"toolman/router/budget"
)

const (
	maxEntries      = 4096
	maxBytes        = 16 << 20
	maxPendingBytes = 8 << 20 // of the contents of calls that wait to be redacted

	// redactAfter is how long calls wait to be redacted, unless somebody reads the log. Redacting
	// costs more than a call. On a busy gateway most calls are dropped before, because there are
	// later ones. The secrets of a session are known for longer than that after its end.
	redactAfter = 10 * time.Second
)

// Options configure a Log.
type Options struct {
	Scrub func(text []byte) []byte // returns a copy of JSON without secrets; nil removes nothing
	// Replica is the ID of the replica of a cluster that has the log; "": there is none.
	Replica string
	Code    Code // nil: errors of the calls of MCP clients have no code
}

// A Log keeps the latest calls. Its methods may be called from any goroutine.
type Log struct {
	o     Options
	queue queue
	work  sync.Mutex // held while calls are redacted, in order

	mu    sync.Mutex
	of    map[budget.Principal]*recent // guarded by mu: by Principal.Client
	calls int                          // guarded by mu
	bytes int                          // guarded by mu
	files map[string]int64             // guarded by mu: by path, the size when toolman began to use the file
}

// recent are the latest calls of one client, oldest first.
type recent struct {
	all   []*Entry
	bytes int
}

// New returns an empty Log.
func New(o Options) *Log {
	if o.Scrub == nil {
		o.Scrub = bytes.Clone
	}
	return &Log{o: o, of: map[budget.Principal]*recent{}, files: map[string]int64{}}
}

// A Call is a call that is over.
type Call struct {
	Began       time.Time
	Server      string
	Tool        string // the server's name for it
	Asked       string // of a call that was denied: the name in the request, which may not name the server; else ""
	Input       []byte
	Result      []byte // if there is no Error
	Error       []byte // JSON
	InputCut    bool   // it is missing, because it is too long
	Cut         bool   // the result or error is
	Sent        bool   // the server may have got the call
	Correlation string
	Principal   budget.Principal
	Agent, Era  string
	Client      *Client

	ended time.Time
}

func (c *Call) size() int { return len(c.Input) + len(c.Result) + len(c.Error) }

// Add adds a call that is over now, and does not block. It keeps the contents, which must not
// change.
func (l *Log) Add(c *Call) {
	c.ended = time.Now().UTC()
	if l.queue.add(c) {
		time.AfterFunc(redactAfter, l.drain)
	}
}

// drain redacts and stores the calls of the queue.
func (l *Log) drain() {
	l.work.Lock()
	defer l.work.Unlock()
	for _, c := range l.queue.take() {
		l.store(l.entry(c))
	}
}

// A queue has the calls that wait to be redacted.
type queue struct {
	mu    sync.Mutex
	all   []*Call                  // guarded by mu: oldest first
	of    map[budget.Principal]int // guarded by mu: the number of calls of a client
	bytes int                      // guarded by mu
	bare  int                      // guarded by mu: so many of the oldest calls have no contents
}

// add reports whether the queue was empty. It drops the oldest call if there are more than the log
// keeps, and the contents of the oldest calls if there are too many bytes.
func (q *queue) add(c *Call) (first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.of == nil {
		q.of = map[budget.Principal]int{}
	}
	first = len(q.all) == 0
	if len(q.all) >= maxEntries {
		q.dropLocked(c.Principal.Client())
	}
	q.all = append(q.all, c)
	q.of[c.Principal.Client()]++
	for q.bytes += c.size(); q.bytes > maxPendingBytes; q.bare++ {
		old := q.all[q.bare]
		q.bytes -= old.size()
		old.InputCut, old.Cut = true, true
		old.Input, old.Result, old.Error = nil, nil, nil
	}
	return first
}

// dropLocked drops the oldest call: of this client, if it has many, so that its calls do not
// replace those of others.
func (q *queue) dropLocked(client budget.Principal) {
	i := 0
	if q.of[client] > len(q.all)/2 {
		i = slices.IndexFunc(q.all, func(c *Call) bool { return c.Principal.Client() == client })
	}
	old := q.all[i]
	q.bytes -= old.size()
	if q.of[old.Principal.Client()]--; q.of[old.Principal.Client()] == 0 {
		delete(q.of, old.Principal.Client())
	}
	q.all = slices.Delete(q.all, i, i+1)
	if i < q.bare {
		q.bare--
	}
}

// take empties the queue.
func (q *queue) take() []*Call {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.all
	q.all, q.of, q.bytes, q.bare = nil, nil, 0, 0
	return all
}

// entry returns the entry of a call.
func (l *Log) entry(c *Call) *Entry {
	e := &Entry{Timestamp: c.ended, Server: sanitize.Cut(c.Server, maxName), Tool: sanitize.Cut(c.Tool, maxName), Correlation: c.Correlation,
		Agent: c.Agent, Era: c.Era, Client: c.Client, RecordedBy: Toolman, Truncated: c.InputCut || c.Cut,
		who: c.Principal, began: c.Began, sent: c.Sent, input: digestOf(c.Input)}
	if c.Asked != "" {
		e.asked = l.scrubbed(sanitize.Cut(c.Asked, maxName))
	}
	if e.Server == "" { // the name is the client's
		e.Tool = l.scrubbed(e.Tool)
	}
	e.Input = e.keep(c.Input, l.o.Scrub)
	switch {
	case c.InputCut:
		e.input = tooLong
		fallthrough
	case len(c.Input) == 0:
		e.Input = json.RawMessage("null")
	}
	switch {
	case c.Cut:
		e.Result = json.RawMessage("null")
	case c.Error != nil:
		e.Error = e.keep(c.Error, l.o.Scrub)
	case len(c.Result) > 0:
		e.Result = e.keep(c.Result, l.o.Scrub)
	}
	return e
}

// scrubbed returns a text without secrets.
func (l *Log) scrubbed(text string) (out string) {
	quoted, _ := json.Marshal(text)         // cannot fail
	json.Unmarshal(l.o.Scrub(quoted), &out) // nor can this
	return out
}

// store adds an entry. If there are too many, it drops the oldest ones of the client that has most.
func (l *Log) store(e *Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	client := e.who.Client()
	mine := l.of[client]
	if mine == nil {
		mine = &recent{}
		l.of[client] = mine
	}
	mine.all = append(mine.all, e)
	mine.bytes += e.size()
	l.calls++
	l.bytes += e.size()
	for l.calls > maxEntries {
		l.forgetLocked(func(x *recent) int { return len(x.all) })
	}
	for l.bytes > maxBytes {
		l.forgetLocked(func(x *recent) int { return x.bytes })
	}
}

// forgetLocked drops the oldest call of the client with the largest measure.
func (l *Log) forgetLocked(measure func(*recent) int) {
	var client budget.Principal
	most := 0
	for c, x := range l.of {
		if n := measure(x); n > most {
			client, most = c, n
		}
	}
	x := l.of[client]
	size := x.all[0].size()
	x.all[0] = nil
	x.all = x.all[1:]
	x.bytes -= size
	l.bytes -= size
	if l.calls--; len(x.all) == 0 {
		delete(l.of, client)
	}
}

// entries returns the entries of a principal or, if that is nil, all. Those of one client are in
// order. They must not be changed.
func (l *Log) entries(of *budget.Principal) (found []*Entry) {
	l.drain()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range l.of {
		for _, e := range x.all {
			switch {
			case of == nil:
				found = append(found, e)
			case e.who == *of:
				found = append(found, e.forCaller())
			}
		}
	}
	return found
}
