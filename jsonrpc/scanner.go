package jsonrpc

import "encoding/binary"

// maxDepth is how deep values may nest; encoding/json stops there too.
const maxDepth = 10_000

const tooDeep = "nested too deep"

// Valid reports whether b is one JSON value in valid UTF-8.
func Valid(b []byte) bool {
	s := scanner{b: b}
	i := s.value(space(b, 0))
	return i >= 0 && s.end(i)
}

// scanner walks a frame once. Its methods take the place to read at and return
// the place behind what they read, or -1 when it is not as it should be; the
// place stays in a register that way, which a field would not.
type scanner struct {
	b     []byte
	outer int      // objects open around the value being read
	older []uint64 // open values but for the innermost 64, see value
	at    int      // where it went wrong
	what  string   // and how

	marks      marks // of b[from:till]
	from, till int
	plain      uint // how many of those bytes, from the first, are good for quick
	wide       bool // there may be bytes outside ASCII
	odd        bool // text came upon an escape
}

func (s *scanner) fail(i int, what string) int {
	s.at, s.what = min(i, len(s.b)), what
	return -1
}

func (s *scanner) err() error {
	return &SyntaxError{Offset: s.at, What: s.what, Deep: s.what == tooDeep}
}

// space returns the place of the next byte that is not white space.
func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// end checks that nothing but white space is left.
func (s *scanner) end(i int) bool {
	if i = space(s.b, i); i < len(s.b) {
		s.fail(i, "text after the value")
		return false
	}
	return true
}

// first reads behind the brace of an object up to its first member; more is
// false when it is empty.
func (s *scanner) first(i int) (next int, more bool) {
	i = space(s.b, i)
	if i < len(s.b) && s.b[i] == '}' {
		return i + 1, false
	}
	return i, true
}

// after reads behind a member of an object up to the next one; more is false
// when the object has ended.
func (s *scanner) after(i int) (next int, more bool) {
	b := s.b
	if i < len(b) && b[i] <= ' ' {
		i = space(b, i)
	}
	switch {
	case i >= len(b):
	case b[i] == ',':
		if i++; i < len(b) && b[i] <= ' ' {
			i = space(b, i)
		}
		return i, true
	case b[i] == '}':
		return i + 1, false
	}
	return s.fail(i, "expected ',' or '}'"), false
}

// key reads the key of a member, and up to its value.
func (s *scanner) key(i int) (key Span, next int) {
	b := s.b
	if i >= len(b) || b[i] != '"' {
		return Span{}, s.fail(i, "expected a key")
	}
	key.Lo = i + 1
	if end := s.quick(b, i); end > 0 {
		i = end
	} else if i = s.text(i); i < 0 {
		return Span{}, i
	}
	key.Hi = i - 1
	if i < len(b) && b[i] <= ' ' {
		i = space(b, i)
	}
	if i >= len(b) || b[i] != ':' {
		return Span{}, s.fail(i, "expected ':'")
	}
	if i++; i < len(b) && b[i] <= ' ' {
		i = space(b, i)
	}
	return key, i
}

// value passes over one value, however deep it nests. The bits of open are the
// innermost 64 values that are open within it, the last in bit 0: 1 for an
// object, 0 for an array.
func (s *scanner) value(i int) int {
	b, depth, open := s.b, 0, uint64(0)
	for {
		if open&1 == 1 {
			end := -1
			if i < len(b) && b[i] == '"' {
				end = s.quick(b, i)
			}
			if end > 0 && end+1 < len(b) && b[end] == ':' && b[end+1] > ' ' {
				i = end + 1
			} else if _, i = s.key(i); i < 0 {
				return i
			}
		}
		switch {
		case i < len(b) && b[i] == '"':
			if end := s.quick(b, i); end > 0 {
				i = end
			} else if i = s.text(i); i < 0 {
				return i
			}
		case i < len(b) && (b[i] == '{' || b[i] == '['):
			closer := b[i] + 2 // in ASCII both stand two behind their opener
			if s.outer+depth >= maxDepth {
				return s.fail(i, tooDeep)
			}
			if i = space(b, i+1); i < len(b) && b[i] == closer {
				i++
				break
			}
			if depth%64 == 63 {
				s.older = append(s.older, open)
			}
			depth++
			open = open<<1 | uint64(closer>>5&1)
			continue
		default:
			if i = s.scalar(i); i < 0 {
				return i
			}
		}
		// A value has ended, and maybe those around it.
		more := false
		for ; depth > 0 && !more; i++ {
			if i < len(b) && b[i] <= ' ' {
				i = space(b, i)
			}
			switch {
			case i < len(b) && b[i] == ',':
				more = true
			case i < len(b) && b[i] == ']'+byte(open&1)<<5: // '}' for an object
				depth--
				if open >>= 1; depth%64 == 63 {
					last := len(s.older) - 1
					open, s.older = s.older[last], s.older[:last]
				}
			default:
				return s.fail(i, "expected ',' or the end of the object or array")
			}
		}
		if !more {
			return i
		}
		if i < len(b) && b[i] <= ' ' {
			i = space(b, i)
		}
	}
}

// scalar passes over a number, true, false or null.
func (s *scanner) scalar(i int) int {
	if i >= len(s.b) {
		return s.fail(i, "expected a value")
	}
	switch s.b[i] {
	case 't':
		return s.literal(i, "true")
	case 'f':
		return s.literal(i, "false")
	case 'n':
		return s.literal(i, "null")
	}
	return s.number(i)
}

func (s *scanner) literal(i int, word string) int {
	if len(s.b)-i < len(word) || string(s.b[i:i+len(word)]) != word {
		return s.fail(i, "expected a value")
	}
	return i + len(word)
}

func (s *scanner) number(i int) int {
	b := s.b
	if b[i] == '-' {
		i++
	}
	start := i
	if i < len(b) && b[i] == '0' {
		i++
	} else {
		for i+8 <= len(b) && areDigits(binary.LittleEndian.Uint64(b[i:])) {
			i += 8
		}
		if i = digits(b, i); i == start {
			return s.fail(i, "expected a value")
		}
	}
	if i < len(b) && b[i] == '.' {
		start = i + 1
		if i = digits(b, start); i == start {
			return s.fail(i, "expected a digit")
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		start = i
		if i = digits(b, start); i == start {
			return s.fail(i, "expected a digit")
		}
	}
	return i
}

func digits(b []byte, i int) int {
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	return i
}

// areDigits reports whether all bytes of x are digits: their upper halves are 3, and
// stay so when 6 is added.
func areDigits(x uint64) bool {
	return (x&repeat(0xf0))|(x+repeat(6))&repeat(0xf0)>>4 == repeat(0x33)
}
