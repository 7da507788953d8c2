package bridge

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

// A CallLog is a file to which a server writes a line of JSON for each call: what servers
// do that are told of one by the environment variable MCP_CALL_LOG.
type CallLog struct {
	Server string // its name
	Path   string
}

// tail reads the entries at the end of the file. What is no entry is passed over, and so
// is a file that is not there or is no plain one.
func (l CallLog) tail(scrub func([]byte) []byte) (all []entry) {
	if info, err := os.Stat(l.Path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(l.Path)
	if err != nil {
		return nil
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil
	}
	from := max(0, size-tailBytes)
	text := make([]byte, size-from)
	n, err := f.ReadAt(text, from)
	if err != nil && err != io.EOF {
		return nil
	}
	text = text[:n]
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

// entry reads a line. Servers agree on its form only roughly.
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
		if len(text) > entryBytes {
			e.Truncated = true
			return json.RawMessage("null")
		}
		if len(text) == 0 || string(text) == "null" {
			return nil
		}
		return scrub(text)
	}
	e.Input, e.Result, e.Error = keep(said.Input), keep(said.Result), keep(said.Error)
	if e.Input == nil {
		e.Input = json.RawMessage("null")
	}
	return e, true
}

// timeOf reads a time: as RFC 3339 has it, or in milliseconds since 1970.
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
