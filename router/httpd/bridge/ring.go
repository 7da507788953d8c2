package bridge

import (
	"encoding/json"
	"sync"
	"time"
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

	agent string
}

func (e *entry) size() int {
	return len(e.Input) + len(e.Result) + len(e.Error) + len(e.Server) + len(e.Tool) + len(e.Correlation) + 128
}

// A ring keeps the last calls. The zero value is ready to use.
type ring struct {
	mu    sync.Mutex
	all   []entry // guarded by mu: oldest first
	bytes int     // guarded by mu
}

// add keeps an entry, and forgets old ones for it.
func (r *ring) add(e entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, e)
	r.bytes += e.size()
	drop := 0
	for ; len(r.all)-drop > ringEntries || r.bytes > ringBytes; drop++ {
		r.bytes -= r.all[drop].size()
		r.all[drop] = entry{}
	}
	r.all = r.all[drop:]
}

// each calls f with every entry, oldest first.
func (r *ring) each(f func(*entry)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.all {
		f(&r.all[i])
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
	e := entry{Timestamp: time.Now().UTC(), Server: q.server, Tool: q.tool, Correlation: q.correlation, agent: s.agent}
	e.Server, e.Tool = shown(e.Server), shown(e.Tool)
	e.Input = b.kept(q.arguments, &e)
	if f == nil {
		e.Result = b.kept(result, &e)
	} else if text, err := encode(f); err == nil {
		e.Error = b.kept(text, &e)
	}
	b.ring.add(e)
}
