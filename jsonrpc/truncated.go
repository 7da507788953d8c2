package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"sync"
)

// Peek finds the ID and the method of a request or notification in its ends: the ID as it is
// written, or nil, and the method, or "". It ignores members of inner objects and members that
// occur twice.
func (e *TooLongError) Peek() (id []byte, method string) {
	id, method, _ = peekHead(e.Head)
	if id == nil && method != "" {
		id = peekTail(e.Tail)
	}
	if !Valid(id) {
		return nil, method
	}
	return id, method
}

// SalvageID finds the ID of a response that is malformed or was not kept, in the first 4 KiB and
// the last 256 bytes of its frame.
func SalvageID(head, tail []byte) (uint64, bool) {
	id, method, response := peekHead(head[:min(len(head), headSize)])
	if !response || method != "" {
		return 0, false
	}
	if id == nil {
		id = peekTail(tail[max(0, len(tail)-tailSize):])
	}
	return ParseID(id)
}

// peekHead reads whole members from the start of a message. response reports whether there is a
// result or an error, of which only the start may be there.
func peekHead(head []byte) (id []byte, method string, response bool) {
	d := json.NewDecoder(bytes.NewReader(head))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, "", false
	}
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		name, _ := key.(string)
		response = response || name == "result" || name == "error"
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil || d.InputOffset() == int64(len(head)) {
			break // the value may continue behind the head
		}
		if seen[name] {
			return nil, "", false
		}
		seen[name] = true
		switch {
		case name == "id" && startsID(value[0]):
			id = value
		case name == "method":
			json.Unmarshal(value, &method) // "" if it is not a string
		}
	}
	return id, method, response
}

// idLast matches an ID that is the last member of a message, or the last but the version. The
// TypeScript and Python SDKs write messages like that. It is compiled when it is first used,
// because that takes time.
var idLast = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`,\s*"id"\s*:\s*(-?\d[\d.eE+-]*|"(?:[^"\\]|\\.)*")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`)
})

// peekTail returns the ID at the end of a message, or nil.
func peekTail(tail []byte) []byte {
	if found := idLast().FindSubmatch(tail); found != nil {
		return found[1]
	}
	return nil
}

// AnsweredID tells which request a message that could not be read was to answer, if
// it does.
func AnsweredID(m *Message, err error) (id uint64, found bool) {
	head, tail := m.Frame, m.Frame
	if long, ok := errors.AsType[*TooLongError](err); ok {
		head, tail = long.Head, long.Tail
	}
	id, found = SalvageID(head, tail)
	if !found && m.ID.Present() && !m.Method.Present() {
		id, found = ParseID(m.Bytes(m.ID))
	}
	return id, found
}

// Strict returns a response that had both a result and an error without the null one.
func Strict(m *Message) *Message {
	var again Message
	frame := AppendResult(nil, m.Bytes(m.ID), m.Bytes(m.Result))
	if m.Err.Present() {
		frame = AppendErrorResponse(nil, m.Bytes(m.ID), m.Bytes(m.Err))
	}
	if Scan(frame, &again) != nil {
		return m
	}
	return &again
}
