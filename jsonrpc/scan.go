package jsonrpc

// Scan checks that frame is one JSON-RPC 2.0 message and records in m where its
// parts are. It does not recurse, and allocates nothing unless it fails or values
// nest more than 64 deep. The error is a *SyntaxError when the frame is not valid
// JSON in valid UTF-8, and a *FormError when it is JSON but no message; m.ID is
// then set if the frame has one, whatever it is.
func Scan(frame []byte, m *Message) error {
	m.Frame, m.Kind, m.Loose, m.nparams = frame, Invalid, false, -1
	m.ID, m.Method, m.Params, m.Result, m.Err = Span{}, Span{}, Span{}, Span{}, Span{}
	s := scanner{b: frame}
	if s.next() != '{' {
		return s.notObject()
	}
	version, form, err := s.top(m)
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return err
	}
	if form == nil {
		form = m.classify(version)
	}
	if form != nil {
		return form
	}
	return nil
}

// notObject judges a frame that does not start with a brace.
func (s *scanner) notObject() error {
	batch := s.peek() == '['
	if err := s.value(); err != nil {
		return err
	}
	if err := s.end(); err != nil {
		return err
	}
	if batch {
		return &FormError{What: "batches are not supported, send one message a line"}
	}
	return &FormError{What: "a message is a JSON object"}
}

// top walks the members of the message itself. A form error does not stop it:
// bad JSON further on is worse, and is told first.
func (s *scanner) top(m *Message) (version Span, form *FormError, err error) {
	s.i++
	s.outer = 1
	for first := true; ; first = false {
		key, more, err := s.key(first)
		if err != nil || !more {
			return version, form, err
		}
		lo := s.i
		if string(s.b[key.Lo:key.Hi]) == "params" && s.peek() == '{' {
			err = s.params(m)
		} else {
			err = s.value()
		}
		if err != nil {
			return version, form, err
		}
		if e := m.set(key, Span{lo, s.i}, &version); e != nil && form == nil {
			form = e
		}
	}
}

// params walks an object and remembers its members in m.
func (s *scanner) params(m *Message) error {
	s.i++
	s.outer++
	n := 0
	for first := true; ; first = false {
		key, more, err := s.key(first)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		lo := s.i
		if err := s.value(); err != nil {
			return err
		}
		if n < maxMembers {
			m.params[n] = member{key, Span{lo, s.i}}
		}
		n++
	}
	s.outer--
	if m.nparams = n; n > maxMembers {
		m.nparams = -1
	}
	return nil
}
