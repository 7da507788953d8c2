package jsonrpc

// maxDepth is how deep values may nest; encoding/json stops there too.
const maxDepth = 10_000

// Valid reports whether b is one JSON value in valid UTF-8.
func Valid(b []byte) bool {
	s := scanner{b: b}
	return s.value() == nil && s.end() == nil
}

// scanner walks a frame once.
type scanner struct {
	b     []byte
	i     int      // the next byte
	outer int      // objects open around the value being read
	open  uint64   // the innermost 64 open values within it, the last in bit 0: 1 object, 0 array
	older []uint64 // those around them
}

func (s *scanner) fail(what string) error { return s.failAt(s.i, what) }

func (s *scanner) failAt(i int, what string) error { return &SyntaxError{Offset: i, What: what} }

// peek returns the next byte, or 0, which no JSON text has outside strings.
func (s *scanner) peek() byte {
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

// next is peek behind white space.
func (s *scanner) next() byte {
	if c := s.peek(); c > ' ' {
		return c
	}
	return s.space()
}

func (s *scanner) space() byte {
	for ; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// end checks that nothing but white space is left.
func (s *scanner) end() error {
	if s.next(); s.i != len(s.b) {
		return s.fail("text after the value")
	}
	return nil
}

// key reads up to the value of the next member of an object; more is false
// when the object ended instead.
func (s *scanner) key(first bool) (key Span, more bool, err error) {
	c := s.next()
	switch {
	case c == '}':
		s.i++
		return Span{}, false, nil
	case first:
	case c == ',':
		s.i++
		c = s.next()
	default:
		return Span{}, false, s.fail("expected ',' or '}'")
	}
	if c != '"' {
		return Span{}, false, s.fail("expected a key")
	}
	key.Lo = s.i + 1
	if err := s.text(); err != nil {
		return Span{}, false, err
	}
	key.Hi = s.i - 1
	if s.next() != ':' {
		return Span{}, false, s.fail("expected ':'")
	}
	s.i++
	s.next()
	return key, true, nil
}

// value passes over one value, however deep it nests.
func (s *scanner) value() error {
	for depth := 0; ; {
		opened, err := s.begin(depth)
		if err != nil {
			return err
		}
		if opened {
			depth++
			continue
		}
		for depth > 0 {
			closed, err := s.after(depth)
			if err != nil {
				return err
			}
			if !closed {
				break
			}
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// begin reads a scalar or an empty object or array whole, or opens one that
// has something in it and reads up to the first value within.
func (s *scanner) begin(depth int) (opened bool, err error) {
	switch c := s.next(); c {
	case '"':
		return false, s.text()
	case '{', '[':
		if s.outer+depth == maxDepth {
			return false, s.fail("nested too deep")
		}
		s.i++
		if s.next() == c+2 { // '}' and ']' are two after their openers
			s.i++
			return false, nil
		}
		s.push(c, depth)
		if c == '{' {
			_, _, err = s.key(true)
		}
		return true, err
	case 't':
		return false, s.literal("true")
	case 'f':
		return false, s.literal("false")
	case 'n':
		return false, s.literal("null")
	default:
		return false, s.number()
	}
}

func (s *scanner) push(opener byte, depth int) {
	if depth > 0 && depth%64 == 0 {
		s.older = append(s.older, s.open)
	}
	s.open <<= 1
	if opener == '{' {
		s.open |= 1
	}
}

func (s *scanner) pop(depth int) {
	s.open >>= 1
	if last := len(s.older) - 1; last >= 0 && depth%64 == 1 {
		s.open, s.older = s.older[last], s.older[:last]
	}
}

// after reads what follows a value inside an object or array: a comma (and a
// key) before the next one, or the end.
func (s *scanner) after(depth int) (closed bool, err error) {
	if s.open&1 == 1 {
		_, more, err := s.key(false)
		if !more {
			s.pop(depth)
		}
		return !more, err
	}
	switch s.next() {
	case ',':
		s.i++
		return false, nil
	case ']':
		s.i++
		s.pop(depth)
		return true, nil
	}
	return false, s.fail("expected ',' or ']'")
}

func (s *scanner) literal(word string) error {
	if len(s.b)-s.i < len(word) || string(s.b[s.i:s.i+len(word)]) != word {
		return s.fail("expected a value")
	}
	s.i += len(word)
	return nil
}

func (s *scanner) number() error {
	if s.peek() == '-' {
		s.i++
	}
	if s.peek() == '0' {
		s.i++
	} else if !s.digits() {
		return s.fail("expected a value")
	}
	if s.peek() == '.' {
		if s.i++; !s.digits() {
			return s.fail("expected a digit")
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.i++
		if c := s.peek(); c == '+' || c == '-' {
			s.i++
		}
		if !s.digits() {
			return s.fail("expected a digit")
		}
	}
	return nil
}

func (s *scanner) digits() bool {
	start := s.i
	for c := s.peek(); '0' <= c && c <= '9'; c = s.peek() {
		s.i++
	}
	return s.i > start
}
