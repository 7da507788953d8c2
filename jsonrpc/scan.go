package jsonrpc

import (
	"slices"

	"toolman/jsonrpc/internal/scan"
)

// Valid reports whether b is one JSON value in valid UTF-8.
func Valid(b []byte) bool { return scan.Valid(0, b) }

// ValidWithin is Valid for a value that will be at most this number of levels deeper in a message.
func ValidWithin(levels int, b []byte) bool { return scan.Valid(levels, b) }

// Scan checks that frame is one JSON-RPC 2.0 message and records in m where its parts are. It does
// not recurse. It allocates nothing unless it fails or values nest more than 64 deep. The error is
// a *SyntaxError if the frame is not valid JSON in valid UTF-8, and a *FormError if it is JSON but
// not a message. In that case m.ID is set if the frame has an ID, of whatever type.
func Scan(frame []byte, m *Message) error {
	m.Frame, m.Kind, m.BothResultAndError, m.Template, m.nparams, m.odd, m.oneLine = frame, Invalid, false, TemplateID{}, -1, false, false
	m.ID, m.Method, m.Params, m.Result, m.Err = Span{}, Span{}, Span{}, Span{}, Span{}
	s := scan.Scanner{B: frame, Outer: 1}
	i := s.Space(0)
	if i == len(frame) || frame[i] != '{' {
		return notObject(&s, i)
	}
	version, form, i := m.scanMembers(&s, i+1)
	if i < 0 || !s.End(i) {
		return syntaxError(&s)
	}
	m.oneLine = !s.Breaks
	if form == nil {
		form = m.classify(version)
	}
	if form != nil {
		return form
	}
	return nil
}

// notObject returns the error for a frame that does not start with a brace.
func notObject(s *scan.Scanner, i int) error {
	start := i
	s.Outer = 0
	if i = s.Value(i); i < 0 || !s.End(i) {
		return syntaxError(s)
	}
	if s.B[start] == '[' {
		return &FormError{What: "batches are not supported here, send one message a line"}
	}
	return &FormError{What: "a message is a JSON object"}
}

// scanMembers reads the members of the message itself. It goes on after a form error, because a
// syntax error takes precedence.
func (m *Message) scanMembers(s *scan.Scanner, i int) (version Span, form *FormError, next int) {
	i, more := s.First(i)
	for more {
		var key Span
		if key.Lo, key.Hi, i = s.Key(i); i < 0 {
			break
		}
		part, err := m.part(s.B[key.Lo:key.Hi], s.Odd, &version)
		lo := i
		if part == &m.Params && i < len(s.B) && s.B[i] == '{' {
			i = m.scanParams(s, i+1)
		} else if i < len(s.B) && s.B[i] == '"' {
			i = s.String(i)
		} else {
			i = s.Value(i)
		}
		if i < 0 {
			break
		}
		switch {
		case part == nil:
		case part.Present():
			parts := m.parts(&version)
			err = twice(topKeys[slices.Index(parts[:], part)])
		default:
			*part = Span{lo, i}
		}
		if form == nil {
			form = err
		}
		i, more = s.After(i)
	}
	return version, form, i
}

// scanParams reads the members of params and records them.
func (m *Message) scanParams(s *scan.Scanner, i int) int {
	s.Outer++
	n := 0
	i, more := s.First(i)
	for more {
		var key Span
		if key.Lo, key.Hi, i = s.Key(i); i < 0 {
			return i
		}
		m.odd = m.odd || s.Odd
		lo := i
		if i = s.Value(i); i < 0 {
			return i
		}
		if n < maxMembers {
			m.params[n] = Member{key, Span{lo, i}}
		}
		n++
		i, more = s.After(i)
	}
	s.Outer--
	if m.nparams = n; n > maxMembers {
		m.nparams = -1
	}
	return i
}

var topKeys = [...]string{"jsonrpc", "id", "method", "params", "result", "error"}

// parts are where the members of topKeys are recorded.
func (m *Message) parts(version *Span) [len(topKeys)]*Span {
	return [...]*Span{version, &m.ID, &m.Method, &m.Params, &m.Result, &m.Err}
}

// part returns where the member with this key is recorded, or nil for none.
func (m *Message) part(key []byte, odd bool, version *Span) (*Span, *FormError) {
	switch string(key) {
	case "jsonrpc":
		return version, nil
	case "id":
		return &m.ID, nil
	case "method":
		return &m.Method, nil
	case "params":
		return &m.Params, nil
	case "result":
		return &m.Result, nil
	case "error":
		return &m.Err, nil
	}
	name := key
	if odd {
		name = unescape(key)
	}
	for i, part := range m.parts(version) {
		if string(name) == topKeys[i] {
			return part, nil
		}
		if looksLike(name, topKeys[i]) {
			return nil, almost(name, topKeys[i])
		}
	}
	return nil, nil
}

// classify sets the kind of the message.
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

// classifyCall is classify for a message that has a method.
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
	// MCP, Base protocol: "Requests MUST include a string or integer ID. Unlike base JSON-RPC, the
	// ID MUST NOT be null."
	if !m.HasID() {
		return &FormError{What: "the id of a request is a string or a number"}
	}
	m.Kind = Request
	return nil
}

// dropNull removes a result or error that is null from a response that has both.
func (m *Message) dropNull() {
	switch {
	case string(m.Bytes(m.Err)) == "null":
		m.Err, m.BothResultAndError = Span{}, true
	case string(m.Bytes(m.Result)) == "null":
		m.Result, m.BothResultAndError = Span{}, true
	}
}
