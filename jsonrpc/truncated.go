package jsonrpc

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"sync"
)

// anyIDLast finds an id that is the last member of a message but for the version,
// as the TypeScript and Python SDKs write requests.
var anyIDLast = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`,\s*"id"\s*:\s*(-?\d[\d.eE+-]*|"(?:[^"\\]|\\.)*")\s*(?:,\s*` + reVersion + `)?\}\s*$`)
})

// Peek returns what the ends of a request or notification show of it: the id,
// verbatim, and the method; nil and "" when they do not. Members of anything inside the
// message do not count, nor do members that stand there twice.
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

// peekHead reads whole members from the start of a message. What may be of any
// length is left to a decoder that takes what there is.
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
			break // the value may go on
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
			json.Unmarshal(value, &method) // what is no string stays ""
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

// Where the id of a response stands when its frame could not be read: near the
// start, as the Go SDKs write it, or at the very end, as the TypeScript SDK does.
const (
	reVersion = `"jsonrpc"\s*:\s*"2\.0"\s*`
	reOpening = `^\s*\{\s*(?:` + reVersion + `,\s*)?`
	reID      = `"id"\s*:\s*(\d{1,18})\s*`
	reOutcome = `"(?:result|error)"\s*:`
)

// They are compiled when they are needed: that would be a part of every start.
var (
	idFirst = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(reOpening + reID + `,\s*(?:` + reVersion + `,\s*)?` + reOutcome)
	})
	noIDFirst = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(reOpening + reOutcome) })
	idLast    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`,\s*` + reID + `(?:,\s*` + reVersion + `)?\}\s*$`) })
)

// SalvageID finds the id of a response that is damaged or was not kept, from
// the start and the end of its frame, of which it looks at 4 KiB and 256 bytes.
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
