package scan

// MaxDepth is how deep values may nest; encoding/json stops there too.
const MaxDepth = 10_000

// TooDeep is the reason for which Scanner stops at a value that nests deeper than MaxDepth.
const TooDeep = "nested too deep"

// Valid reports whether b is one JSON value in valid UTF-8, which will be at most this number of
// levels deep in a message.
func Valid(levels int, b []byte) bool {
	s := Scanner{B: b, Outer: levels}
	i := s.Value(s.Space(0))
	return i >= 0 && s.End(i)
}

// A Scanner walks a text once. Its methods take the place to read from and return the place behind
// what they have read, or -1 at a syntax error. The caller keeps the place: in a field of the
// scanner it would not stay in a register.
type Scanner struct {
	B      []byte
	Outer  int    // the number of objects that the caller has entered
	At     int    // the place of the syntax error
	Reason string // what is wrong there

	Odd    bool // the string read last has escapes or bytes outside ASCII
	Breaks bool // there are line breaks between the values

	older []uint64 // see Value
}

func (s *Scanner) fail(i int, reason string) int {
	s.At, s.Reason = min(i, len(s.B)), reason
	return -1
}

// Space skips white space.
func (s *Scanner) Space(i int) int {
	for ; i < len(s.B); i++ {
		switch s.B[i] {
		case '\n', '\r':
			s.Breaks = true
		case ' ', '\t':
		default:
			return i
		}
	}
	return i
}

// Space returns the place of the first byte of b from i on that is not white space.
func Space(b []byte, i int) int {
	s := Scanner{B: b}
	return s.Space(i)
}

// End reports whether nothing but white space is left.
func (s *Scanner) End(i int) bool {
	if i = s.Space(i); i < len(s.B) {
		s.fail(i, "text after the value")
		return false
	}
	return true
}

// First reads behind the brace of an object up to its first member. more is false when the object
// is empty.
func (s *Scanner) First(i int) (next int, more bool) {
	i = s.Space(i)
	if i < len(s.B) && s.B[i] == '}' {
		return i + 1, false
	}
	return i, true
}

// After reads behind a member of an object up to the next one. more is false when the object has
// ended.
func (s *Scanner) After(i int) (next int, more bool) {
	b := s.B
	if i < len(b) && b[i] <= ' ' {
		i = s.Space(i)
	}
	switch {
	case i >= len(b):
	case b[i] == ',':
		if i++; i < len(b) && b[i] <= ' ' {
			i = s.Space(i)
		}
		return i, true
	case b[i] == '}':
		return i + 1, false
	}
	return s.fail(i, "expected ',' or '}'"), false
}

// Key reads the key of a member, and up to its value. The key, without its quotes, is b[lo:hi].
func (s *Scanner) Key(i int) (lo, hi, next int) {
	b := s.B
	if i >= len(b) || b[i] != '"' {
		return 0, 0, s.fail(i, "expected a key")
	}
	lo = i + 1
	if i = s.String(i); i < 0 {
		return 0, 0, i
	}
	hi = i - 1
	if i < len(b) && b[i] <= ' ' {
		i = s.Space(i)
	}
	if i >= len(b) || b[i] != ':' {
		return 0, 0, s.fail(i, "expected ':'")
	}
	if i++; i < len(b) && b[i] <= ' ' {
		i = s.Space(i)
	}
	return lo, hi, i
}

// Value reads one value, however deep it nests.
func (s *Scanner) Value(i int) int {
	// The bits of open are the innermost 64 values that have begun, the last in bit 0: 1 for an
	// object, 0 for an array. s.older has those around them.
	b, depth, open := s.B, 0, uint64(0)
	for {
		if open&1 == 1 {
			if _, _, i = s.Key(i); i < 0 {
				return i
			}
		}
		switch {
		case i < len(b) && b[i] == '"':
			if i = s.String(i); i < 0 {
				return i
			}
		case i < len(b) && (b[i] == '{' || b[i] == '['):
			closer := b[i] + 2 // in ASCII both stand two behind their opener
			if s.Outer+depth >= MaxDepth {
				return s.fail(i, TooDeep)
			}
			if i = s.Space(i + 1); i < len(b) && b[i] == closer {
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
		// A value has ended. So may have those around it.
		more := false
		for ; depth > 0 && !more; i++ {
			if i < len(b) && b[i] <= ' ' {
				i = s.Space(i)
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
			i = s.Space(i)
		}
	}
}

// scalar reads a number, true, false or null.
func (s *Scanner) scalar(i int) int {
	if i >= len(s.B) {
		return s.fail(i, "expected a value")
	}
	switch s.B[i] {
	case 't':
		return s.literal(i, "true")
	case 'f':
		return s.literal(i, "false")
	case 'n':
		return s.literal(i, "null")
	}
	return s.Number(i)
}

func (s *Scanner) literal(i int, word string) int {
	if len(s.B)-i < len(word) || string(s.B[i:i+len(word)]) != word {
		return s.fail(i, "expected a value")
	}
	return i + len(word)
}

// Number reads the number that begins at i.
func (s *Scanner) Number(i int) int {
	b := s.B
	if b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if i = s.digits(i, "expected a value"); i < 0 {
		return i
	}
	if i < len(b) && b[i] == '.' {
		if i = s.digits(i+1, "expected a digit"); i < 0 {
			return i
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		return s.digits(i, "expected a digit")
	}
	return i
}

// digits reads at least one digit.
func (s *Scanner) digits(i int, reason string) int {
	start := i
	for i < len(s.B) && '0' <= s.B[i] && s.B[i] <= '9' {
		i++
	}
	if i == start {
		return s.fail(i, reason)
	}
	return i
}
