package jsonrpc

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// maxDepth is how deep values may nest; encoding/json stops there too.
const maxDepth = 10_000

// Scan checks that frame is one JSON-RPC 2.0 message and records in m where its
// parts are. It allocates nothing unless it fails, and does not recurse. The
// error is a *SyntaxError when the frame is not valid JSON in valid UTF-8, and
// a *FormError when it is JSON but no message; m.ID is then set if the frame
// has one, whatever it is.
func Scan(frame []byte, m *Message) error {
	m.Frame, m.Kind, m.Loose, m.nparams = frame, Invalid, false, -1
	m.ID, m.Method, m.Params, m.Result, m.Err = Span{}, Span{}, Span{}, Span{}, Span{}
	s := scanner{b: frame}
	s.space()
	if s.peek() != '{' {
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

// Valid reports whether b is one JSON value in valid UTF-8.
func Valid(b []byte) bool {
	s := scanner{b: b}
	return s.value() == nil && s.end() == nil
}

// scanner walks a frame once.
type scanner struct {
	b      []byte
	i      int                          // the next byte
	outer  int                          // objects open around the value being read
	high   uint64                       // bytes of strings, or-ed: UTF-8 is checked only where a high bit shows
	nested [(maxDepth + 63) / 64]uint64 // a bit for each open value: 1 object, 0 array
}

func (s *scanner) fail(what string) error { return &SyntaxError{Offset: s.i, What: what} }

// peek returns the next byte, or 0, which no JSON text has outside strings.
func (s *scanner) peek() byte {
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}

// end checks that nothing but white space is left and that the text is UTF-8.
func (s *scanner) end() error {
	s.space()
	if s.i != len(s.b) {
		return s.fail("text after the value")
	}
	if s.high&highBits != 0 && !utf8.Valid(s.b) {
		return s.fail("invalid UTF-8")
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

// key reads up to the value of the next member of an object; more is false
// when the object ended instead.
func (s *scanner) key(first bool) (key Span, more bool, err error) {
	s.space()
	switch {
	case s.peek() == '}':
		s.i++
		return Span{}, false, nil
	case first:
	case s.peek() == ',':
		s.i++
		s.space()
	default:
		return Span{}, false, s.fail("expected ',' or '}'")
	}
	if s.peek() != '"' {
		return Span{}, false, s.fail("expected a key")
	}
	key.Lo = s.i + 1
	if err := s.text(); err != nil {
		return Span{}, false, err
	}
	key.Hi = s.i - 1
	s.space()
	if s.peek() != ':' {
		return Span{}, false, s.fail("expected ':'")
	}
	s.i++
	s.space()
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
		for {
			if depth == 0 {
				return nil
			}
			closed, err := s.after(depth)
			if err != nil {
				return err
			}
			if !closed {
				break
			}
			depth--
		}
	}
}

// begin reads a scalar or an empty object or array whole, or opens one that
// has something in it and reads up to the first value within.
func (s *scanner) begin(depth int) (opened bool, err error) {
	s.space()
	switch c := s.peek(); c {
	case '{', '[':
		if s.outer+depth == maxDepth {
			return false, s.fail("nested too deep")
		}
		s.i++
		s.space()
		if s.peek() == c+2 { // '}' and ']' are two after their openers
			s.i++
			return false, nil
		}
		word, bit := &s.nested[depth/64], uint64(1)<<(depth%64)
		if c == '[' {
			*word &^= bit
			return true, nil
		}
		*word |= bit
		_, _, err := s.key(true)
		return true, err
	case '"':
		return false, s.text()
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

// after reads what follows a value inside an object or array: a comma (and a
// key) before the next one, or the end.
func (s *scanner) after(depth int) (closed bool, err error) {
	if s.nested[(depth-1)/64]>>((depth-1)%64)&1 == 1 {
		_, more, err := s.key(false)
		return !more, err
	}
	s.space()
	switch s.peek() {
	case ',':
		s.i++
		return false, nil
	case ']':
		s.i++
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

const highBits = 0x8080808080808080

func repeat(c byte) uint64 { return uint64(c) * 0x0101010101010101 }

// special marks, by their high bit, the bytes of x that are a quote, a
// backslash or a control character. The lowest mark is exact; ones above it
// may not be.
func special(x uint64) uint64 {
	const ones = 0x0101010101010101
	quote, back := x^repeat('"'), x^repeat('\\')
	return ((quote-ones)&^quote | (back-ones)&^back | (x-repeat(' '))&^x) & highBits
}

// text passes over a string, eight bytes at a time where nothing is special.
func (s *scanner) text() error {
	s.i++
	for {
		for s.i+8 <= len(s.b) {
			x := binary.LittleEndian.Uint64(s.b[s.i:])
			s.high |= x
			if mark := special(x); mark != 0 {
				s.i += bits.TrailingZeros64(mark) / 8
				break
			}
			s.i += 8
		}
		if s.i >= len(s.b) {
			return s.fail("string without an end")
		}
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			return nil
		case c == '\\':
			if err := s.escape(); err != nil {
				return err
			}
		case c < ' ':
			return s.fail("control character in a string")
		default:
			s.high |= uint64(c)
			s.i++
		}
	}
}

func (s *scanner) escape() error {
	s.i++
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.i++
		return nil
	case 'u':
		s.i++
		for range 4 {
			if !isHex(s.peek()) {
				return s.fail("expected four hexadecimal digits")
			}
			s.i++
		}
		return nil
	}
	return s.fail("unknown escape")
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}
