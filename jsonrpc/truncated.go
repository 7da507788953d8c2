package jsonrpc

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"sync"
)

// anyIDLast finds an id that is the last member of a message, or the last but the version. The
// TypeScript and Python SDKs write requests like that.
var anyIDLast = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`,\s*"id"\s*:\s*(-?\d[\d.eE+-]*|"(?:[^"\\]|\\.)*")\s*(?:,\s*` + reVersion + `)?\}\s*$`)
})

// Peek finds the ID and the method of a request or notification in its ends: the ID as it is
// written, or nil, and the method, or "". It ignores members of inner objects and members that
// occur twice.
func (e *TooLongError) Peek() (id []byte, method string) {
	id, method = peekHead(e.Head)
	if id == nil && method != "" {
		if last := anyIDLast().FindSubmatch(e.Tail); last != nil {
			id = last[1]
		}
	}
	if !Valid(id) {
		return nil, method
	}
	return id, method
}

// peekHead reads whole members from the start of a message.
func peekHead(head []byte) (id []byte, method string) {
	d := json.NewDecoder(bytes.NewReader(head))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, ""
	}
	seen := map[string]bool{}
	for d.More() {
		var value json.RawMessage
		key, err := d.Token()
		if err != nil || d.Decode(&value) != nil || d.InputOffset() == int64(len(head)) {
			break // the value may continue behind the head
		}
		name, _ := key.(string)
		if seen[name] {
			return nil, ""
		}
		seen[name] = true
		switch name {
		case "id":
			id = scalarID(value)
		case "method":
			json.Unmarshal(value, &method) // "" if it is not a string
		}
	}
	return id, method
}

// scalarID returns an id that a request may have, or nil.
func scalarID(value []byte) []byte {
	if c := value[0]; c == '"' || c == '-' || '0' <= c && c <= '9' {
		return value
	}
	return nil
}

// The places where SDKs write the ID of a response: near the start (Go), or at the end
// (TypeScript).
const (
	reVersion = `"jsonrpc"\s*:\s*"2\.0"\s*`
	reOpening = `^\s*\{\s*(?:` + reVersion + `,\s*)?`
	reID      = `"id"\s*:\s*(\d{1,18})\s*`
	reOutcome = `"(?:result|error)"\s*:`
)

// They are compiled when they are first used, because that takes time at each start.
var (
	idFirst = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(reOpening + reID + `,\s*(?:` + reVersion + `,\s*)?` + reOutcome)
	})
	noIDFirst = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(reOpening + reOutcome) })
	idLast    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`,\s*` + reID + `(?:,\s*` + reVersion + `)?\}\s*$`) })
)

// SalvageID finds the ID of a response that is malformed or was not kept, in the first 4 KiB and
// the last 256 bytes of its frame.
func SalvageID(head, tail []byte) (uint64, bool) {
	head, tail = head[:min(len(head), headSize)], tail[max(0, len(tail)-tailSize):]
	found := idFirst().FindSubmatch(head)
	if found == nil && noIDFirst().Match(head) {
		found = idLast().FindSubmatch(tail)
	}
	if found == nil {
		return 0, false
	}
	id, err := strconv.ParseUint(string(found[1]), 10, 64)
	return id, err == nil
}
