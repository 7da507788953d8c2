package bridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"toolman/mcpwire/sanitize"
	"toolman/router"
	"toolman/router/budget"
)

const (
	defaultLogs = 100
	maxLogs     = 1000
)

// Logs are the calls that a caller may read.
type Logs struct {
	All   bool      // calls of all principals, not only its own
	Files []CallLog // read only with All, because they do not name agents
}

// wanted is the query of GET /logs.
type wanted struct {
	server string
	since  time.Time
	limit  int
}

// listLogs serves GET /logs.
func (x *exchange) listLogs() *Failure {
	want, f := wantedOf(x.r)
	if f != nil {
		return f
	}
	if f := x.admit(); f != nil {
		return f
	}
	client := &x.caller.Client
	all := x.entries(want, client, x.o.Logs(x.r, client.Agent))
	slices.SortStableFunc(all, func(x, y entry) int { return x.Timestamp.Compare(y.Timestamp) })
	writeJSON(x.w, http.StatusOK, all[max(0, len(all)-want.limit):], x.kept)
	return nil
}

func wantedOf(r *http.Request) (want wanted, f *Failure) {
	q := r.URL.Query()
	want.server, want.limit = q.Get("server"), defaultLogs
	if q.Has("since") {
		at, err := time.Parse(time.RFC3339, q.Get("since"))
		if err != nil {
			return want, fail(BadRequest, `since must be a time in the format of RFC 3339, such as 2026-01-31T12:00:00Z`)
		}
		want.since = at
	}
	if q.Has("limit") {
		n, err := strconv.Atoi(q.Get("limit"))
		if err != nil || n < 1 || n > maxLogs {
			return want, fail(BadRequest, fmt.Sprintf("limit must be a number from 1 to %d", maxLogs))
		}
		want.limit = n
	}
	return want, nil
}

// entries returns the entries that a client wants and may read.
func (b *Bridge) entries(want wanted, who *router.Client, may Logs) []entry {
	all := []entry{}
	add := func(e *entry) {
		if (want.server == "" || e.Server == want.server) && !e.Timestamp.Before(want.since) {
			all = append(all, *e)
		}
	}
	b.ring.each(func(e *entry) {
		if may.All || e.who == who.Principal {
			add(e)
		}
	})
	if !may.All {
		return all
	}
	for _, file := range may.Files {
		if want.server == "" || want.server == file.Server {
			for _, e := range file.tail(b.o.Scrub) {
				add(&e)
			}
		}
	}
	return all
}

const (
	ringEntries = 4096
	ringBytes   = 16 << 20
	entryBytes  = 64 << 10 // of an entry's input or result; longer ones are dropped
)

// An entry is one call in the response to GET /logs.
type entry struct {
	Timestamp   time.Time       `json:"timestamp"` // of its end; UTC
	Server      string          `json:"server"`
	Tool        string          `json:"tool"`
	Input       json.RawMessage `json:"input"`
	Result      json.RawMessage `json:"result,omitempty"`
	Error       json.RawMessage `json:"error,omitempty"`
	Correlation string          `json:"correlation_id,omitempty"`
	Truncated   bool            `json:"truncated,omitempty"` // input or result is null, because it is too long

	who budget.Principal // made the call
}

func (e *entry) size() int {
	return len(e.Input) + len(e.Result) + len(e.Error) + len(e.Server) + len(e.Tool) + len(e.Correlation) + 128
}

// A ring keeps the latest calls. The zero value is ready to use.
type ring struct {
	mu    sync.Mutex
	of    map[budget.Principal]*recent // guarded by mu: by Principal.Client
	calls int                          // guarded by mu
	bytes int                          // guarded by mu
}

// recent are the latest calls of one client, oldest first.
type recent struct {
	all   []entry
	bytes int
}

// add adds an entry. If there are too many, it drops the oldest ones of the client that has most.
func (r *ring) add(e entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	client := e.who.Client()
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
	for r.calls > ringEntries {
		r.forget(func(x *recent) int { return len(x.all) })
	}
	for r.bytes > ringBytes {
		r.forget(func(x *recent) int { return x.bytes })
	}
}

// forget drops the oldest call of the client with the largest measure. mu is held.
func (r *ring) forget(measure func(*recent) int) {
	var client budget.Principal
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

// keep returns JSON for the entry: without secrets, or null if it is too long.
func (e *entry) keep(text []byte, scrub func([]byte) []byte) json.RawMessage {
	if len(text) > entryBytes {
		e.Truncated = true
		return json.RawMessage("null")
	}
	return scrub(text)
}

// log adds the outcome of a call to the log.
func (b *Bridge) log(s *session, q *toolCall, result []byte, f *Failure) {
	e := entry{Timestamp: time.Now().UTC(), Server: q.server, Tool: q.tool, Correlation: q.correlation, who: s.Caller.Client.Principal}
	e.Server, e.Tool = sanitize.Cut(e.Server, maxShown), sanitize.Cut(e.Tool, maxShown)
	e.Input = e.keep(q.arguments, b.o.Scrub)
	if f == nil {
		e.Result = e.keep(result, b.o.Scrub)
	} else if text, err := encode(f); err == nil {
		e.Error = e.keep(text, b.o.Scrub)
	}
	b.ring.add(e)
}

// tailBytes is how much of the end of a file is read.
const tailBytes = 1 << 20

// A CallLog is a file to which a server writes a line of JSON for each call. Some servers do so if the
// environment variable MCP_CALL_LOG names one.
type CallLog struct {
	Server string // its name
	Path   string
}

// tail reads the entries at the end of the file. It skips other lines. Without a regular file there are none.
func (l CallLog) tail(scrub func([]byte) []byte) (all []entry) {
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
func (l CallLog) entry(line []byte, scrub func([]byte) []byte) (e entry, ok bool) {
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
	e.Timestamp, e.Tool = at, sanitize.Cut(e.Tool, maxShown)
	keep := func(text json.RawMessage) json.RawMessage {
		if len(text) == 0 || string(text) == "null" {
			return nil
		}
		return e.keep(text, scrub)
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
