package jsonrpc

import "toolman/jsonrpc/internal/scan"

// Valid reports whether b is one JSON value in valid UTF-8.
func Valid(b []byte) bool { return scan.Valid(0, b) }

// ValidWithin is Valid for a value that will be at most this number of levels deeper in a message.
func ValidWithin(levels int, b []byte) bool { return scan.Valid(levels, b) }

// Scan checks that frame is one JSON-RPC 2.0 message and records in m where its
// parts are. It does not recurse, and allocates nothing unless it fails or values
// nest more than 64 deep. The error is a *SyntaxError when the frame is not valid
// JSON in valid UTF-8, and a *FormError when it is JSON but no message; m.ID is
// then set if the frame has one, whatever it is.
func Scan(frame []byte, m *Message) error {
	m.Frame, m.Kind, m.Loose, m.Template, m.nparams, m.odd, m.oneLine = frame, Invalid, false, TemplateID{}, -1, false, false
	m.ID, m.Method, m.Params, m.Result, m.Err = Span{}, Span{}, Span{}, Span{}, Span{}
	s := scan.Scanner{B: frame, Outer: 1}
	i := s.Space(0)
	if i == len(frame) || frame[i] != '{' {
		return notObject(&s, i)
	}
	version, form, i := m.top(&s, i)
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

// batch is what is said of an array of messages where there may be none.
const batch = "batches are not supported here, send one message a line"

// notObject judges a frame that does not start with a brace.
func notObject(s *scan.Scanner, i int) error {
	start := i
	s.Outer = 0
	if i = s.Value(i); i < 0 || !s.End(i) {
		return syntaxError(s)
	}
	if s.B[start] == '[' {
		return &FormError{What: batch}
	}
	return &FormError{What: "a message is a JSON object"}
}

// top walks the members of the message itself. A form error does not stop it:
// bad JSON further on is worse, and is told first.
func (m *Message) top(s *scan.Scanner, i int) (version Span, form *FormError, next int) {
	b := s.B
	version, i, more := opening(s, i)
	for more {
		slot, lo := m.usual(s, i, &version)
		if slot == nil {
			var key Span
			var e *FormError
			if key.Lo, key.Hi, lo = s.Key(i); lo < 0 {
				return version, form, lo
			}
			if slot, e = m.unusual(key, &version); e != nil && form == nil {
				form = e
			}
		}
		if i = m.part(s, lo, slot == &m.Params); i < 0 {
			break
		}
		switch {
		case slot == nil:
		case !slot.Present():
			*slot = Span{lo, i}
		case form == nil:
			form = m.twice(slot, &version)
		}
		if i+1 < len(b) && b[i] == ',' && b[i+1] == '"' {
			i++ // after, as it mostly is
		} else {
			i, more = s.After(i)
		}
	}
	return version, form, i
}

// opening reads the brace at i, and the version behind it if that comes first and
// is written as usual.
func opening(s *scan.Scanner, i int) (version Span, next int, more bool) {
	const usual = `{"jsonrpc":"2.0"`
	if end := i + len(usual); end <= len(s.B) && string(s.B[i:end]) == usual {
		i, more = s.After(end)
		return Span{end - len(`"2.0"`), end}, i, more
	}
	i, more = s.First(i + 1)
	return Span{}, i, more
}

// part passes over the value of a member of the message.
func (m *Message) part(s *scan.Scanner, i int, params bool) int {
	if i < len(s.B) {
		switch c := s.B[i]; {
		case params && c == '{':
			return m.walkParams(s, i+1)
		case c == '"':
			return s.String(i)
		case '0' <= c && c <= '9':
			return s.Number(i) // most likely the id
		}
	}
	return s.Value(i)
}

// walkParams walks an object and remembers its members in m.
func (m *Message) walkParams(s *scan.Scanner, i int) int {
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
			p := &m.params[n]
			p.key, p.value = key, Span{lo, i}
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
