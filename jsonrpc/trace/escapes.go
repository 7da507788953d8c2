package trace

import (
	"bytes"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// An escaping is a way to write some bytes of a text as escapes.
type escaping struct {
	mark   byte                            // the first byte of every escape
	size   func(p []byte, i int) int       // length of the escape at p[i], which is a mark; 0 if none is there
	decode func(dst, escape []byte) []byte // appends what the escape means
}

var backslashes = escaping{'\\', backslashSize, appendBackslash}

// escapings are the others. Each is resolved alone, because a secret may hold what looks like an
// escape of another one.
var escapings = [...]escaping{
	{'%', percentSize, appendPercent},
	{'&', entitySize, appendEntity},
	{'\n', wrapSize, appendNothing},
	{'\r', wrapSize, appendNothing},
}

// markBits has bit i set for the mark of escapings[i].
var markBits = [256]byte{'%': 1 << 0, '&': 1 << 1, '\n': 1 << 2, '\r': 1 << 3}

// marksIn is the markBits of all bytes of p.
func marksIn(p []byte) (bits byte) {
	for _, c := range p {
		bits |= markBits[c]
	}
	return bits
}

// next finds the first escape of p from i on. Without one, it returns len(p) and 0.
func (c *escaping) next(p []byte, i int) (at, size int) {
	for ; i < len(p); i++ {
		n := bytes.IndexByte(p[i:], c.mark)
		if n < 0 {
			break
		}
		i += n
		if size := c.size(p, i); size > 0 {
			return i, size
		}
	}
	return len(p), 0
}

// plainEscapes are the letters that JSON gives a meaning after a backslash, and plainValues their
// meanings. Every other character means itself, as in a shell.
const plainEscapes, plainValues = "bfnrt", "\b\f\n\r\t"

// backslashSize is the length of \c, of \xHH as in Go, of \uXXXX, or of a surrogate pair of those.
func backslashSize(p []byte, i int) int {
	switch p = p[i:]; {
	case len(p) < 2:
		return 0
	case len(p) >= 4 && p[1] == 'x' && isHex(p[2]) && isHex(p[3]):
		return 4
	}
	r, ok := unicodeEscape(p)
	if !ok {
		return 2
	}
	if low, ok := unicodeEscape(p[6:]); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
		return 12
	}
	return 6
}

func appendBackslash(dst, escape []byte) []byte {
	switch len(escape) {
	case 2:
		if i := strings.IndexByte(plainEscapes, escape[1]); i >= 0 {
			return append(dst, plainValues[i])
		}
		return append(dst, escape[1])
	case 4:
		return appendHex(dst, escape[2:])
	}
	r, _ := unicodeEscape(escape)
	if low, ok := unicodeEscape(escape[6:]); ok {
		r = utf16.DecodeRune(r, low)
	}
	return utf8.AppendRune(dst, r) // U+FFFD for half a pair, as encoding/json has it
}

// unicodeEscape reads \uXXXX at the start of p.
func unicodeEscape(p []byte) (rune, bool) {
	if len(p) < 6 || p[0] != '\\' || p[1] != 'u' {
		return 0, false
	}
	r := rune(0)
	for _, c := range p[2:6] {
		d := strings.IndexByte("0123456789abcdef", c|0x20)
		if d < 0 || c < '0' {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

// percentSize is the length of %HH (RFC 3986, section 2.1).
func percentSize(p []byte, i int) int {
	if i+2 < len(p) && isHex(p[i+1]) && isHex(p[i+2]) {
		return 3
	}
	return 0
}

func appendPercent(dst, escape []byte) []byte { return appendHex(dst, escape[1:]) }

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func appendHex(dst, digits []byte) []byte {
	dst, _ = hex.AppendDecode(dst, digits) // isHex has checked them
	return dst
}

const maxEntity = 12 // bytes of the longest character reference that is resolved, & and ; included

// entitySize is the length of a character reference of HTML: &name; &#123; or &#x7b;.
func entitySize(p []byte, i int) int {
	p = p[i:min(len(p), i+maxEntity)]
	end := bytes.IndexByte(p, ';')
	if end < 0 || characterOf(p[1:end]) < 0 {
		return 0
	}
	return end + 1
}

func appendEntity(dst, escape []byte) []byte {
	return utf8.AppendRune(dst, characterOf(escape[1:len(escape)-1]))
}

// characterOf is the character with this name or number in HTML, -1 if there is none. Its names are
// those of ASCII characters: package html knows all others, too, but has variables that would be
// initialized at each start.
func characterOf(name []byte) rune {
	if digits, ok := bytes.CutPrefix(name, []byte("#")); ok {
		base := 10
		if len(digits) > 0 && digits[0]|0x20 == 'x' {
			digits, base = digits[1:], 16
		}
		n, err := strconv.ParseUint(string(digits), base, 21)
		if err != nil {
			return -1
		}
		return rune(n)
	}
	switch string(name) {
	case "amp", "AMP":
		return '&'
	case "apos":
		return '\''
	case "ast", "midast":
		return '*'
	case "bsol":
		return '\\'
	case "colon":
		return ':'
	case "comma":
		return ','
	case "commat":
		return '@'
	case "dollar":
		return '$'
	case "equals":
		return '='
	case "excl":
		return '!'
	case "grave":
		return '`'
	case "gt", "GT":
		return '>'
	case "Hat":
		return '^'
	case "lbrace", "lcub":
		return '{'
	case "lbrack", "lsqb":
		return '['
	case "lowbar":
		return '_'
	case "lpar":
		return '('
	case "lt", "LT":
		return '<'
	case "NewLine":
		return '\n'
	case "num":
		return '#'
	case "percnt":
		return '%'
	case "period":
		return '.'
	case "plus":
		return '+'
	case "quest":
		return '?'
	case "quot", "QUOT":
		return '"'
	case "rbrace", "rcub":
		return '}'
	case "rbrack", "rsqb":
		return ']'
	case "rpar":
		return ')'
	case "semi":
		return ';'
	case "sol":
		return '/'
	case "Tab":
		return '\t'
	case "verbar", "vert":
		return '|'
	}
	return -1
}

// wrapBytes is how long a line of base64 or hex must be to go on in the next line. Programs write
// lines of 60 to 76 bytes.
const wrapBytes = 48

// wrapSize is the length of a line break within base64 or hex. Such a line break is an escape that
// means nothing.
func wrapSize(p []byte, i int) int {
	size := 1
	if p[i] == '\r' {
		size = 2
	}
	if i < wrapBytes || size == 2 && !bytes.HasPrefix(p[i:], []byte("\r\n")) || i+size < len(p) && !isBase64(p[i+size]) {
		return 0
	}
	for _, c := range p[i-wrapBytes : i] {
		if !isBase64(c) {
			return 0
		}
	}
	return size
}

func appendNothing(dst, _ []byte) []byte { return dst }

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isBase64(c byte) bool {
	return isAlphanumeric(c) || c == '+' || c == '/' || c == '-' || c == '_'
}
