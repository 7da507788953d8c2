package bridge

import (
	"encoding/json"
	"sync"
	"time"

	"toolman/mcpwire/sanitize"
	"toolman/router/principal"
)

const (
	ringEntries = 4096
	ringBytes   = 16 << 20
	entryBytes  = 64 << 10 // of an entry's input or result that is kept
)

// An entry is one call, as GET /logs has it.
type entry struct {
	Timestamp   time.Time       `json:"timestamp"` // when it ended; UTC
	Server      string          `json:"server"`
	Tool        string          `json:"tool"`
	Input       json.RawMessage `json:"input"`
	Result      json.RawMessage `json:"result,omitempty"`
	Error       json.RawMessage `json:"error,omitempty"`
	Correlation string          `json:"correlation_id,omitempty"`
	Truncated   bool            `json:"truncated,omitempty"` // input or result was too long to be kept: it is null

	who principal.Principal // whose call it was
}

func (e *entry) size() int {
	return len(e.Input) + len(e.Result) + len(e.Error) + len(e.Server) + len(e.Tool) + len(e.Correlation) + 128
}

// A ring keeps the last calls. The zero value is ready to use.
type ring struct {
	mu    sync.Mutex
	of    map[principal.Principal]*recent // guarded by mu: by Principal.Client
	calls int                             // guarded by mu
	bytes int                             // guarded by mu
}

// recent are the last calls of one client, oldest first.
type recent struct {
	all   []entry
	bytes int
}

// add keeps an entry, and forgets old ones for it: those of the client that has the most.
func (r *ring) add(e entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	client := e.who.Client()
	mine := r.of[client]
	if mine == nil {
		if r.of == nil {
			r.of = map[principal.Principal]*recent{}
		}
		mine = &recent{}
		r.of[client] = mine
	}
	mine.all = append(mine.all, e)
	mine.bytes += e.size()
	r.calls++
	r.bytes += e.size()
	for r.calls > ringEntries {
		r.forget(func(x *recent) int { return len(x.all) })
	}
	for r.bytes > ringBytes {
		r.forget(func(x *recent) int { return x.bytes })
	}
}

// forget drops the oldest call of the client that has the most by a measure. mu is held.
func (r *ring) forget(measure func(*recent) int) {
	var client principal.Principal
	most := 0
	for c, x := range r.of {
		if n := measure(x); n > most {
			client, most = c, n
		}
	}
	x := r.of[client]
	size := x.all[0].size()
	x.all[0] = entry{}
	x.all = x.all[1:]
	x.bytes -= size
	r.bytes -= size
	if r.calls--; len(x.all) == 0 {
		delete(r.of, client)
	}
}

// each calls f with every entry, those of one client oldest first.
func (r *ring) each(f func(*entry)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range r.of {
		for i := range x.all {
			f(&x.all[i])
		}
	}
}

// kept is JSON for an entry: without secrets, and null when it is too long.
func (b *Bridge) kept(text []byte, e *entry) json.RawMessage {
	if len(text) > entryBytes {
		e.Truncated = true
		return json.RawMessage("null")
	}
	return b.o.Scrub(text)
}

// log notes how a call went.
func (b *Bridge) log(s *session, q *request, result []byte, f *Failure) {
	e := entry{Timestamp: time.Now().UTC(), Server: q.server, Tool: q.tool, Correlation: q.correlation, who: s.who.Client.Principal}
	e.Server, e.Tool = sanitize.Cut(e.Server, maxShown), sanitize.Cut(e.Tool, maxShown)
	e.Input = b.kept(q.arguments, &e)
	if f == nil {
		e.Result = b.kept(result, &e)
	} else if text, err := encode(f); err == nil {
		e.Error = b.kept(text, &e)
	}
	b.ring.add(e)
}
