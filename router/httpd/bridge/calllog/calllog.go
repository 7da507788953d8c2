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
	maxPendingBytes = 8 << 20 // of the contents of calls that wait to be redacted; more are dropped
)

// Options configure a Log.
type Options struct {
	Scrub func(text []byte) []byte // returns a copy of JSON without secrets; nil removes nothing
	Code  Code                     // nil: errors of the calls of MCP clients have no code
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
		go l.drain()
	}
}

// drain redacts and stores the calls of the queue until there are none.
func (l *Log) drain() {
	l.work.Lock()
	defer l.work.Unlock()
	for all := l.queue.take(); len(all) > 0; all = l.queue.take() {
		for _, c := range all {
			l.store(l.entry(c))
		}
	}
}

// A queue has the calls that wait to be redacted.
type queue struct {
	mu       sync.Mutex
	all      []*Call // guarded by mu
	bytes    int     // guarded by mu
	draining bool    // guarded by mu
}

// add reports whether somebody has to begin to drain the queue. It drops the contents of a call if
// there are too many bytes, and the oldest call if there are more than the log keeps.
func (q *queue) add(c *Call) (begin bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.bytes+c.size() > maxPendingBytes {
		c.InputCut, c.Cut = true, true
		c.Input, c.Result, c.Error = nil, nil, nil
	}
	if len(q.all) == maxEntries {
		q.bytes -= q.all[0].size()
		q.all = slices.Delete(q.all, 0, 1)
	}
	q.all = append(q.all, c)
	q.bytes += c.size()
	begin, q.draining = !q.draining, true
	return begin
}

// take empties the queue.
func (q *queue) take() []*Call {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.all
	q.all, q.bytes, q.draining = nil, 0, len(all) > 0
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
