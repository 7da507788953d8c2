package jsonrpc

import (
	"bytes"
	"fmt"
	"iter"
	"slices"

	"toolman/jsonrpc/internal/scan"
)

// usual recognises the key of a member of the message as nearly everybody writes
// it, and returns where to put the span of the value and where that begins.
func (m *Message) usual(s *scan.Scanner, i int, version *Span) (slot *Span, next int) {
	b := m.Frame
	if i+10 > len(b) {
		return nil, i
	}
	switch b[i+1] {
	case 'j':
		if string(b[i:i+10]) == `"jsonrpc":` {
			slot, i = version, i+10
		}
	case 'i':
		if string(b[i:i+5]) == `"id":` {
			slot, i = &m.ID, i+5
		}
	case 'm':
		if string(b[i:i+9]) == `"method":` {
			slot, i = &m.Method, i+9
		}
	case 'p':
		if string(b[i:i+9]) == `"params":` {
			slot, i = &m.Params, i+9
		}
	case 'r':
		if string(b[i:i+9]) == `"result":` {
			slot, i = &m.Result, i+9
		}
	}
	if i < len(b) && b[i] <= ' ' {
		i = s.Space(i)
	}
	return slot, i
}

// unusual is usual for a key spelled in any way.
func (m *Message) unusual(key Span, version *Span) (*Span, *FormError) {
	name := unescape(m.Frame[key.Lo:key.Hi])
	for i, slot := range m.slots(version) {
		if string(name) == topKeys[i] {
			return slot, nil
		}
	}
	return nil, lookAlike(name)
}

// slots are where the members of topKeys are put.
func (m *Message) slots(version *Span) [len(topKeys)]*Span {
	return [...]*Span{version, &m.ID, &m.Method, &m.Params, &m.Result, &m.Err}
}

// twice is the error that the member whose place is slot is repeated.
func (m *Message) twice(slot, version *Span) *FormError {
	slots := m.slots(version)
	name := topKeys[slices.Index(slots[:], slot)]
	return &FormError{What: "the member " + name + " stands there twice"}
}

var topKeys = [...]string{"jsonrpc", "id", "method", "params", "result", "error"}

func lookAlike(name []byte) *FormError {
	for _, key := range topKeys {
		if looksLike(name, key) {
			return &FormError{What: almost(name, key)}
		}
	}
	return nil
}

// classify decides what kind of message the recorded members make.
func (m *Message) classify(version Span) *FormError {
	if string(m.Bytes(version)) != `"2.0"` {
		return &FormError{What: `the member jsonrpc must be "2.0"`}
	}
	if m.Method.Present() {
		return m.classifyCall()
	}
	if m.Result.Present() && m.Err.Present() {
		m.dropNull()
	}
	if m.Result.Present() == m.Err.Present() {
		return &FormError{What: "neither a method nor exactly one of result and error"}
	}
	if m.Err.Present() && !m.IsObject(m.Err) {
		return &FormError{What: "the error must be an object"}
	}
	m.Kind = Response
	return nil
}

func (m *Message) classifyCall() *FormError {
	switch {
	case !m.IsString(m.Method):
		return &FormError{What: "the method must be a string"}
	case m.Result.Present() || m.Err.Present():
		return &FormError{What: "a message with a method has no result or error"}
	case !m.ID.Present():
		m.Kind = Notification
		return nil
	}
	// MCP, Base protocol: "Requests MUST include a string or integer ID.
	// Unlike base JSON-RPC, the ID MUST NOT be null."
	if !m.HasID() {
		return &FormError{What: "the id of a request is a string or a number"}
	}
	m.Kind = Request
	return nil
}

// dropNull forgets whichever of result and error is null, if one is.
func (m *Message) dropNull() {
	switch {
	case string(m.Bytes(m.Err)) == "null":
		m.Err, m.Loose = Span{}, true
	case string(m.Bytes(m.Result)) == "null":
		m.Result, m.Loose = Span{}, true
	}
}

// matchKey compares one key of an object, without its quotes, with the wanted
// one and records its value in found.
func matchKey(raw []byte, want string, found *Span, value Span) error {
	if string(raw) != want {
		if !suspicious(raw, want) {
			return nil
		}
		if name := unescape(raw); string(name) != want {
			if looksLike(name, want) {
				return &FormError{What: almost(name, want)}
			}
			return nil
		}
	}
	if found.Present() {
		return &FormError{What: "the member " + want + " stands there twice"}
	}
	*found = value
	return nil
}

// suspicious tells, cheaply, whether a key that differs from want may still be
// read as want by somebody.
func suspicious(raw []byte, want string) bool {
	if len(raw) == len(want) && raw[0]|0x20 == want[0]|0x20 {
		return true
	}
	return odd(raw)
}

func almost(name []byte, key string) string {
	return fmt.Sprintf("the member %q is spelled almost like %s", name[:min(len(name), 64)], key)
}

// odd reports whether a key has escapes or bytes outside ASCII.
func odd(key []byte) bool {
	for _, c := range key {
		if c == '\\' || c >= 0x80 {
			return true
		}
	}
	return false
}

// looksLike reports whether a parser that folds case, drops NULs at the start
// or ends a text at one would take name for key. The first two have let messages
// past a filter in Go SDKs; the third is how C reads.
func looksLike(name []byte, key string) bool {
	visible, _, _ := bytes.Cut(bytes.TrimLeft(name, "\x00"), []byte{0})
	return bytes.EqualFold(visible, []byte(key))
}

// members iterates over an object that Scan has found valid: key (without its
// quotes) and value.
func members(frame []byte, obj Span) iter.Seq2[Span, Span] {
	return func(yield func(Span, Span) bool) {
		s := scan.Scanner{B: frame}
		for i, more := s.First(obj.Lo + 1); more; i, more = s.After(i) {
			var key Span
			if key.Lo, key.Hi, i = s.Key(i); i < 0 {
				return
			}
			lo := i
			if i = s.Value(i); i < 0 || !yield(key, Span{lo, i}) {
				return
			}
		}
	}
}

// Elements iterates over the values of the array at arr, which must be part of
// a frame that Scan has accepted.
func Elements(frame []byte, arr Span) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		if !arr.Present() || frame[arr.Lo] != '[' {
			return
		}
		s := scan.Scanner{B: frame}
		for i := s.Space(arr.Lo + 1); frame[i] != ']'; i = s.Space(i) {
			if frame[i] == ',' {
				i = s.Space(i + 1)
			}
			lo := i
			if i = s.Value(i); i < 0 || !yield(Span{lo, i}) {
				return
			}
		}
	}
}

// Members iterates over the members of the object at obj, which must be part of
// a frame that Scan has accepted: the key unquoted, and the span of the value.
func Members(frame []byte, obj Span) iter.Seq2[string, Span] {
	return func(yield func(string, Span) bool) {
		if !obj.Present() || frame[obj.Lo] != '{' {
			return
		}
		for k, v := range members(frame, obj) {
			if !yield(string(unescape(frame[k.Lo:k.Hi])), v) {
				return
			}
		}
	}
}
