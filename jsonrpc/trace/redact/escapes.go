package redact

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

// escapings are the others. Each is resolved alone, because a secret may contain what looks like
// another escape.
var escapings = [...]escaping{
	{'%', percentSize, appendPercent},
	{'&', entitySize, appendEntity},
	{'\n', wrapSize, appendNothing},
	{'\r', wrapSize, appendNothing},
}

// markBits has bit i set for the mark of escapings[i].
var markBits = [256]byte{'%': 1 << 0, '&': 1 << 1, '\n': 1 << 2, '\r': 1 << 3}

// marksIn returns the markBits of all bytes of p.
func marksIn(p []byte) (bits byte) {
	for _, c := range p {
		bits |= markBits[c]
	}
	return bits
}

// next finds the first escape of p from i on. If there is none, it returns len(p) and 0.
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

// plainEscapes are the letters with a meaning after a backslash in JSON, and plainValues their
// meanings. Every other character means itself, as in a shell.
const plainEscapes, plainValues = "bfnrt", "\b\f\n\r\t"

// backslashSize returns the length of \c, of \xHH as in Go, of \uXXXX, or of a surrogate pair of
// those.
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
	return utf8.AppendRune(dst, r) // U+FFFD for half a pair, as in encoding/json
}

// unicodeEscape reads \uXXXX at the start of p.
func unicodeEscape(p []byte) (rune, bool) {
	if len(p) < 6 || p[0] != '\\' || p[1] != 'u' {
		return 0, false
	}
	r, err := strconv.ParseUint(string(p[2:6]), 16, 16)
	return rune(r), err == nil
}

// percentSize returns the length of %HH (RFC 3986, section 2.1).
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

const maxEntity = 12 // bytes of the longest character reference, with & and ;

// entitySize returns the length of a character reference of HTML: &name; &#123; or &#x7b;.
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

// entities are the names of ASCII characters in HTML, each before its character. Package html knows
// all names, but initializes large variables at each start.
const entities = " amp& AMP& apos' ast* midast* bsol\\ colon: comma, commat@ dollar$ equals= excl! grave` gt> GT> Hat^" +
	" lbrace{ lcub{ lbrack[ lsqb[ lowbar_ lpar( lt< LT< NewLine\n num# percnt% period. plus+ quest? quot\" QUOT\"" +
	" rbrace} rcub} rbrack] rsqb] rpar) semi; sol/ Tab\t verbar| vert| "

// characterOf returns the character with this name or number in HTML, or -1.
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
	i := strings.Index(entities, " "+string(name))
	if end := i + 1 + len(name); i >= 0 && len(name) > 1 && run(name, 0, isAlphanumeric) == len(name) && !isAlphanumeric(entities[end]) {
		return rune(entities[end])
	}
	return -1
}

// wrapBytes is the shortest line of base64 or hex that the next line can continue. Programs write
// lines of 60 to 76 bytes.
const wrapBytes = 48

// wrapSize returns the length of a line break within base64 or hex, an escape without a meaning.
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
