package jsonrpc

// Scan checks that frame is one JSON-RPC 2.0 message and records in m where its
// parts are. It does not recurse, and allocates nothing unless it fails or values
// nest more than 64 deep. The error is a *SyntaxError when the frame is not valid
// JSON in valid UTF-8, and a *FormError when it is JSON but no message; m.ID is
// then set if the frame has one, whatever it is.
func Scan(frame []byte, m *Message) error {
	m.Frame, m.Kind, m.Loose, m.Form, m.nparams, m.odd = frame, Invalid, false, Form{}, -1, false
	m.ID, m.Method, m.Params, m.Result, m.Err = Span{}, Span{}, Span{}, Span{}, Span{}
	s := scanner{b: frame, outer: 1}
	i := space(frame, 0)
	if i == len(frame) || frame[i] != '{' {
		return s.notObject(i)
	}
	s.load(i)
	version, form, i := s.top(m, i)
	if i < 0 || !s.end(i) {
		return s.err()
	}
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
func (s *scanner) notObject(i int) error {
	start := i
	s.outer = 0
	if i = s.value(i); i < 0 || !s.end(i) {
		return s.err()
	}
	if s.b[start] == '[' {
		return &FormError{What: batch}
	}
	return &FormError{What: "a message is a JSON object"}
}

// top walks the members of the message itself. A form error does not stop it:
// bad JSON further on is worse, and is told first.
func (s *scanner) top(m *Message, i int) (version Span, form *FormError, next int) {
	b := s.b
	version, i, more := s.opening(i)
	for more {
		slot, lo := m.usual(i, &version)
		if slot == nil {
			var key Span
			var e *FormError
			if key, lo = s.key(i); lo < 0 {
				return version, form, lo
			}
			if slot, e = m.unusual(key, &version); e != nil && form == nil {
				form = e
			}
		}
		if i = -1; lo < len(b) && b[lo] == '"' {
			i = s.quick(b, lo)
		}
		if i < 0 {
			if i = s.part(m, lo, slot == &m.Params); i < 0 {
				break
			}
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
			i, more = s.after(i)
		}
	}
	return version, form, i
}

// opening reads the brace at i, and the version behind it if that comes first and
// is written as usual.
func (s *scanner) opening(i int) (version Span, next int, more bool) {
	const usual = `{"jsonrpc":"2.0"`
	if end := i + len(usual); end <= len(s.b) && string(s.b[i:end]) == usual {
		i, more = s.after(end)
		return Span{end - len(`"2.0"`), end}, i, more
	}
	i, more = s.first(i + 1)
	return Span{}, i, more
}

// part passes over the value of a member of the message.
func (s *scanner) part(m *Message, i int, params bool) int {
	if i < len(s.b) {
		switch c := s.b[i]; {
		case params && c == '{':
			return s.params(m, i+1)
		case '0' <= c && c <= '9':
			return s.number(i) // most likely the id
		}
	}
	return s.value(i)
}

// params walks an object and remembers its members in m.
func (s *scanner) params(m *Message, i int) int {
	s.outer++
	n := 0
	i, more := s.first(i)
	for more {
		var key Span
		s.odd = false
		if key, i = s.key(i); i < 0 {
			return i
		}
		m.odd = m.odd || s.odd || s.wide && odd(s.b[key.Lo:key.Hi])
		lo := i
		if i = s.value(i); i < 0 {
			return i
		}
		if n < maxMembers {
			p := &m.params[n]
			p.key, p.value = key, Span{lo, i}
		}
		n++
		i, more = s.after(i)
	}
	s.outer--
	if m.nparams = n; n > maxMembers {
		m.nparams = -1
	}
	return i
}
