package calllog

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strconv"
	"time"

	"toolman/mcpwire/sanitize"
)

// tailBytes is how much of the end of a file is read.
const tailBytes = 1 << 20

// A File is a file to which a server writes a line of JSON for each call. Some servers do so if the
// environment variable MCP_CALL_LOG names one.
type File struct {
	Server string // its name
	Path   string
}

// Use records that toolman uses a file from now on: records that are in it already are of other
// calls.
func (l *Log) Use(f File) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.files[f.Path]; known {
		return
	}
	l.files[f.Path] = 0
	if info, err := os.Stat(f.Path); err == nil {
		l.files[f.Path] = info.Size()
	}
}

// A record is what a server has written about a call.
type record struct {
	*Entry
	servers []string // that write to the file
	isNew   bool     // written since Use
}

// read reads the records at the end of a file of these servers. It skips other lines. Without a
// regular file there are none.
func (l *Log) read(path string, servers []string) (all []record) {
	text, from := tail(path)
	l.mu.Lock()
	begin := l.files[path]
	l.mu.Unlock()
	if from+int64(len(text)) < begin { // it is another file, or was emptied
		begin = 0
	}
	at := from
	for line := range bytes.Lines(text) {
		if e, ok := entryIn(bytes.TrimSpace(line), l.o.Scrub); ok {
			e.Server = servers[0]
			all = append(all, record{e, servers, at >= begin})
		}
		at += int64(len(line))
	}
	return all
}

// tail returns the last lines of a regular file, and the offset where they begin.
func tail(path string) (text []byte, from int64) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil, 0
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0
	}
	defer f.Close()
	from = max(0, info.Size()-tailBytes)
	text, err = io.ReadAll(io.NewSectionReader(f, from, tailBytes))
	if err != nil {
		return nil, 0
	}
	if from > 0 {
		cut, rest, _ := bytes.Cut(text, []byte{'\n'})
		text, from = rest, from+int64(len(cut))+1
	}
	return text, from
}

// entryIn reads a line. Its form differs between servers.
func entryIn(line []byte, scrub func([]byte) []byte) (e *Entry, ok bool) {
	var said struct {
		Timestamp, Tool, Input, Result, Error json.RawMessage
	}
	if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &said) != nil {
		return nil, false
	}
	e = &Entry{RecordedBy: Server, input: digestOf(said.Input)}
	at, known := timeOf(said.Timestamp)
	if !known || json.Unmarshal(said.Tool, &e.Tool) != nil || e.Tool == "" {
		return nil, false
	}
	e.Timestamp, e.Tool = at, sanitize.Cut(e.Tool, maxName)
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
