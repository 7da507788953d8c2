package page

import (
	"bufio"
	"strconv"
	"unicode/utf8"
)

const (
	maxValue = 1 << 10  // bytes of a value of a line that is cut
	maxCut   = 16 << 10 // about: bytes of such a line
)

// cutLine appends a line of a trace that is too long to be sent whole: a JSON object with the
// members of the line that are short, the starts of strings that are not, "cut":true and the
// offset of the line. A line that is no object becomes one that has only those and its start as
// "text". It reads in a piece at a time, and so needs little memory for a line of any length.
func cutLine(dst []byte, in *bufio.Reader, at int64) []byte {
	c := cutter{in: in, dst: dst, from: len(dst)}
	if c.peek() != '{' {
		c.dst = append(c.dst, `{"t":"invalid","text":"`...)
		c.dst = append(appendStart(c.dst, in), `",`...)
		return c.end(at)
	}
	c.in.ReadByte()
	c.dst = append(c.dst, '{')
	for len(c.dst)-c.from < maxCut && c.member() {
	}
	return c.end(at)
}

// A cutter copies the members of an object, without those that are long.
type cutter struct {
	in   *bufio.Reader
	dst  []byte
	from int // where the object begins in dst
}

func (c *cutter) end(at int64) []byte {
	c.dst = append(c.dst, `"cut":true,"at":`...)
	return append(strconv.AppendInt(c.dst, at, 10), '}')
}

// peek skips spaces and returns the byte after them; 0 at the end.
func (c *cutter) peek() byte {
	for {
		b, err := c.in.ReadByte()
		switch {
		case err != nil:
			return 0
		case b == ' ', b == '\t', b == '\r', b == '\n':
			continue
		}
		c.in.UnreadByte()
		return b
	}
}

// member copies a member, and a comma after it. It returns false after the last one.
func (c *cutter) member() bool {
	if c.peek() == ',' {
		c.in.ReadByte()
	}
	if c.peek() != '"' {
		return false // the end, or what is no JSON
	}
	before := len(c.dst)
	whole := c.value()
	if c.peek() != ':' {
		c.dst = c.dst[:before]
		return false
	}
	c.in.ReadByte()
	c.dst = append(c.dst, ':')
	isString, from := c.peek() == '"', len(c.dst)
	if !c.value() && !isString || len(c.dst) == from || !whole {
		c.dst = c.dst[:before]
		return true
	}
	c.dst = append(c.dst, ',')
	return true
}

// value copies a value, of which it needs only to find the end. Of a long one it copies the start,
// and returns false; if it is a string, that is a string too.
func (c *cutter) value() bool {
	var (
		from           = len(c.dst)
		depth          int
		quoted, escape bool
		long           bool
	)
	isString := c.peek() == '"'
	for {
		b, err := c.in.ReadByte()
		if err != nil {
			c.dst = c.dst[:from]
			return false
		}
		if !quoted && depth == 0 && (b == ',' || b == '}' || b == ']' || b == ':') {
			c.in.UnreadByte()
			return !long && len(c.dst) > from
		}
		if b < ' ' {
			b = ' ' // between tokens
		}
		if long = len(c.dst)-from == maxValue; !long {
			c.dst = append(c.dst, b)
		}
		switch {
		case escape:
			escape = false
		case quoted && b == '\\':
			escape = true
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{', b == '[':
			depth++
		case b == '}', b == ']':
			depth--
		}
		if quoted || depth > 0 || b != '"' && b != '}' && b != ']' {
			continue
		}
		if !long {
			return true
		}
		if isString {
			c.dst = append(wholeCharacters(c.dst, from+1), '"')
		}
		return false
	}
}

// wholeCharacters removes what was cut at the end of the inside of a JSON string, which begins at
// from: a part of an escape sequence, of two that belong together, or of UTF-8.
func wholeCharacters(b []byte, from int) []byte {
	end := from
	for i := from; i < len(b); {
		n := 1
		switch {
		case b[i] == '\\' && i+1 < len(b) && b[i+1] == 'u':
			n = 6
			if i+3 < len(b) && (b[i+2]|0x20) == 'd' && b[i+3] >= '8' { // the first half of a pair
				n = 12
			}
		case b[i] == '\\':
			n = 2
		case b[i] >= utf8.RuneSelf:
			if !utf8.FullRune(b[i:]) {
				n = utf8.UTFMax
			} else {
				_, n = utf8.DecodeRune(b[i:])
			}
		}
		if i += n; i <= len(b) {
			end = i
		}
	}
	return b[:end]
}

// appendStart appends the start of a text as the inside of a JSON string.
func appendStart(dst []byte, in *bufio.Reader) []byte {
	for range maxValue {
		r, _, err := in.ReadRune()
		if err != nil {
			break
		}
		switch {
		case r == '"', r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < ' ':
			dst = appendEscape(dst, r)
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}

// appendEscape appends a character of the Basic Multilingual Plane as an escape sequence of JSON.
func appendEscape(dst []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}
