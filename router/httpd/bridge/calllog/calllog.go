package calllog

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"toolman/mcpwire/sanitize"
	"toolman/router/budget"
)

const (
	maxEntries = 4096
	maxBytes   = 16 << 20
	maxName    = 1000     // bytes of a name
	entryBytes = 64 << 10 // of an entry's input or result; longer ones are dropped
)

// An Entry is one call in the response to GET /logs.
type Entry struct {
	Timestamp   time.Time       `json:"timestamp"` // of its end; UTC
	Server      string          `json:"server"`
	Tool        string          `json:"tool"`
	Input       json.RawMessage `json:"input"`
	Result      json.RawMessage `json:"result,omitempty"`
	Error       json.RawMessage `json:"error,omitempty"`
	Correlation string          `json:"correlation_id,omitempty"`
	Truncated   bool            `json:"truncated,omitempty"` // input or result is null, because it is too long

	Who budget.Principal `json:"-"` // made the call
}

func (e *Entry) size() int {
	return len(e.Input) + len(e.Result) + len(e.Error) + len(e.Server) + len(e.Tool) + len(e.Correlation) + 128
}

// Keep returns JSON for the entry: without secrets, or null if it is too long.
func (e *Entry) Keep(text []byte, scrub func([]byte) []byte) json.RawMessage {
	if len(text) > entryBytes {
		e.Truncated = true
		return json.RawMessage("null")
	}
	return scrub(text)
}

// A Log keeps the latest calls. The zero value is ready to use.
type Log struct {
	mu    sync.Mutex
	of    map[budget.Principal]*recent // guarded by mu: by Principal.Client
	calls int                          // guarded by mu
	bytes int                          // guarded by mu
}

// recent are the latest calls of one client, oldest first.
type recent struct {
	all   []Entry
	bytes int
}

// Add adds an entry. If there are too many, it drops the oldest ones of the client that has most.
func (r *Log) Add(e Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	client := e.Who.Client()
	mine := r.of[client]
	if mine == nil {
		if r.of == nil {
			r.of = map[budget.Principal]*recent{}
		}
		mine = &recent{}
		r.of[client] = mine
	}
	mine.all = append(mine.all, e)
	mine.bytes += e.size()
	r.calls++
	r.bytes += e.size()
	for r.calls > maxEntries {
		r.forget(func(x *recent) int { return len(x.all) })
	}
	for r.bytes > maxBytes {
		r.forget(func(x *recent) int { return x.bytes })
	}
}

// forget drops the oldest call of the client with the largest measure. mu is held.
func (r *Log) forget(measure func(*recent) int) {
	var client budget.Principal
	most := 0
	for c, x := range r.of {
		if n := measure(x); n > most {
			client, most = c, n
		}
	}
	x := r.of[client]
	size := x.all[0].size()
	x.all[0] = Entry{}
	x.all = x.all[1:]
	x.bytes -= size
	r.bytes -= size
	if r.calls--; len(x.all) == 0 {
		delete(r.of, client)
	}
}

// Find returns the entries that f accepts, those of one client oldest first. The result is never
// nil.
func (r *Log) Find(f func(*Entry) bool) (found []Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found = []Entry{}
	for _, x := range r.of {
		for i := range x.all {
			if f(&x.all[i]) {
				found = append(found, x.all[i])
			}
		}
	}
	return found
}

// tailBytes is how much of the end of a file is read.
const tailBytes = 1 << 20

// A File is a file to which a server writes a line of JSON for each call. Some servers do so if the
// environment variable MCP_CALL_LOG names one.
type File struct {
	Server string // its name
	Path   string
}

// Read reads the entries at the end of the file. It skips other lines. Without a regular file there
// are none.
func (l File) Read(scrub func([]byte) []byte) (all []Entry) {
	info, err := os.Stat(l.Path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(l.Path)
	if err != nil {
		return nil
	}
	defer f.Close()
	from := max(0, info.Size()-tailBytes)
	text, err := io.ReadAll(io.NewSectionReader(f, from, tailBytes))
	if err != nil {
		return nil
	}
	if from > 0 {
		_, text, _ = bytes.Cut(text, []byte{'\n'})
	}
	for line := range bytes.Lines(text) {
		if e, ok := l.entry(bytes.TrimSpace(line), scrub); ok {
			all = append(all, e)
		}
	}
	return all
}

// entry reads a line. Its form differs between servers.
func (l File) entry(line []byte, scrub func([]byte) []byte) (e Entry, ok bool) {
	var said struct {
		Timestamp, Tool, Input, Result, Error json.RawMessage
	}
	if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &said) != nil {
		return e, false
	}
	e.Server = l.Server
	at, known := timeOf(said.Timestamp)
	if !known || json.Unmarshal(said.Tool, &e.Tool) != nil || e.Tool == "" {
		return e, false
	}
	e.Timestamp, e.Tool = at, sanitize.Cut(e.Tool, maxName)
	keep := func(text json.RawMessage) json.RawMessage {
		if len(text) == 0 || string(text) == "null" {
			return nil
		}
		return e.Keep(text, scrub)
	}
	e.Input, e.Result, e.Error = keep(said.Input), keep(said.Result), keep(said.Error)
	if e.Input == nil {
		e.Input = json.RawMessage("null")
	}
	return e, true
}

// timeOf reads a time: in the form of RFC 3339, or in milliseconds since 1970.
func timeOf(token json.RawMessage) (time.Time, bool) {
	var text string
	if json.Unmarshal(token, &text) == nil {
		at, err := time.Parse(time.RFC3339, text)
		return at.UTC(), err == nil && at.Year() < 10_000
	}
	ms, err := strconv.ParseInt(string(token), 10, 64)
	at := time.UnixMilli(ms).UTC()
	return at, err == nil && at.Year() > 0 && at.Year() < 10_000
}
