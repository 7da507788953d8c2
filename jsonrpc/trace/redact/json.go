package redact

import (
	"bytes"
	"slices"
	"strings"
)

// sensitive are the words that make the value of a key a secret. Keys are compared in lower case.
var sensitive = [...]string{"authorization", "cookie", "token", "secret", "passw", "apikey", "api_key", "api-key", "credential"}

// harmless are the keys with such a word that belong to the protocol.
var harmless = [...]string{"progresstoken", "nextpagetoken", "pagetoken"}

// walk searches the JSON, or what looks like it, in p. At depth 0, p is the whole text, and walk
// searches its strings and numbers. Deeper, p is the content of a string, at is the origin of its
// bytes, and walk only looks at keys, since find has seen the rest.
//
// With byKey, walk also hides the values of sensitive keys, and numbers that equal a secret or
// contain one. Otherwise only secrets are hidden, and not the digits around them.
func (r *Redactor) walk(p []byte, at []int32, depth int, byKey bool) {
	var hide byte // 'v': the next value; '[': the strings of this array; 'w': the next value, whatever it is
	for t := next(p, 0); t.kind != 0; t = next(p, t.hi) {
		switch {
		case t.kind == '"' && t.isKey(p):
			r.str(p, t, depth)
			hide = 0
			if byKey {
				hide = r.hides(p[t.lo+1 : t.hi-1])
			}
			continue
		case hide == 'w' && strings.IndexByte("{[0a", t.kind) >= 0:
			t.hi = valueEnd(p, t)
			r.hide(at, t.lo, t.hi, depth+1)
		case t.kind == '"':
			r.value(p, at, t, depth, hide != 0)
			if byKey && hide == 0 {
				r.nest(p, at, t, depth)
			}
		case t.kind == '0' && depth == 0 && (byKey && r.isNumber(p[t.lo:t.hi]) || r.isWhole(p[t.lo:t.hi])):
			r.spans = append(r.spans, span{t.lo, t.hi, 1})
		}
		hide = after(t.kind, hide)
	}
}

// after returns what to hide after a token that is not a key.
func after(kind, hide byte) byte {
	switch kind {
	case '[':
		if hide != 0 {
			return '['
		}
	case ',', ':':
		return hide
	case '"', '0', 'a':
		if hide == '[' {
			return '['
		}
	}
	return 0
}

// value hides the content of a string that is not a key, or searches it.
func (r *Redactor) value(p []byte, at []int32, t token, depth int, hide bool) {
	lo, hi := t.inner()
	switch {
	case hide && string(p[lo:hi]) == placeholder: // it was hidden before
	case hide && hi > lo:
		r.hide(at, lo, hi, 0)
	default:
		r.str(p, t, depth)
	}
}

// hide hides a part of a text, of which at is the origin.
func (r *Redactor) hide(at []int32, lo, hi, quotes int) {
	if at != nil {
		lo, hi = int(at[lo]), int(at[hi])
	}
	r.spans = append(r.spans, span{lo, hi, quotes})
}

// str searches a string or key at depth 0.
func (r *Redactor) str(p []byte, t token, depth int) {
	if depth > 0 {
		return
	}
	lo, hi := t.inner()
	text := p[lo:hi]
	if len(text) < wordBytes && bytes.IndexByte(text, '\\') < 0 { // too short for all but whole secrets
		if r.isWhole(text) {
			r.spans = append(r.spans, span{lo: lo, hi: hi})
		}
		return
	}
	if _, escaped := r.find(view{text: text, base: lo}, false); escaped {
		text = r.views[0].text
	}
	if r.isWhole(text) {
		r.spans = append(r.spans, span{lo: lo, hi: hi})
	}
}

// nest walks through a string that may hold JSON, as results of tools often do.
func (r *Redactor) nest(p []byte, at []int32, t token, depth int) {
	lo, hi := t.inner()
	if depth == maxNesting || !bytes.Contains(p[lo:hi], []byte(`\"`)) {
		return
	}
	v := &r.views[0] // str has just resolved it
	if depth > 0 {
		v = &r.nested[depth]
		v.resolve(view{text: p[lo:hi], at: at[lo : hi+1]}, &backslashes)
	}
	r.walk(v.text, v.at, depth+1, true)
}

// hides returns what to hide after a key.
func (r *Redactor) hides(key []byte) byte {
	switch {
	case r.Keys == nil && r.isSensitive(key):
		return 'v'
	case r.Keys != nil:
		if r.key.resolve(view{text: key}, &backslashes) {
			key = r.key.text
		}
		if r.Keys(string(key)) {
			return 'w'
		}
	}
	return 0
}

// isSensitive reports whether any value of this key is a secret.
func (r *Redactor) isSensitive(key []byte) bool {
	if len(key) < len("token") { // the shortest word
		return false
	}
	switch string(key) { // keys of nearly every message, for speed
	case "jsonrpc", "method", "params", "arguments", "result", "content", "structuredContent", "isError", "message",
		"description", "inputSchema", "properties", "required", "progress", "total":
		return false
	}
	if r.key.resolve(view{text: key}, &backslashes) {
		key = r.key.text
	}
	lower := strings.ToLower(string(key))
	for _, w := range sensitive {
		if strings.Contains(lower, w) {
			return !slices.Contains(harmless[:], lower)
		}
	}
	return false
}

// A token is a piece of JSON, or of text that looks like JSON.
type token struct {
	kind   byte // '"' string, '0' number, 'a' other letters, or the structural character itself; 0: the end
	lo, hi int
	closed bool // a string has its closing quote
}

// next finds the first token of b from i on. It accepts any bytes.
func next(b []byte, i int) token {
	for ; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			hi, closed := stringEnd(b, i)
			return token{'"', i, hi, closed}
		case c == '-' || '0' <= c && c <= '9':
			return token{'0', i, run(b, i, isNumberByte), true}
		case isLetter(c):
			return token{'a', i, run(b, i, isLetter), true}
		case c == '{' || c == '}' || c == '[' || c == ']' || c == ',' || c == ':':
			return token{c, i, i + 1, true}
		}
	}
	return token{}
}

// valueEnd is the offset after the value that begins with t, which is not a string.
func valueEnd(b []byte, t token) int {
	depth := 0
	for ; t.kind != 0; t = next(b, t.hi) {
		switch t.kind {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth <= 0 {
			return t.hi
		}
	}
	return len(b)
}

// inner is the content of a string token.
func (t token) inner() (lo, hi int) {
	if t.closed {
		return t.lo + 1, t.hi - 1
	}
	return t.lo + 1, t.hi
}

// stringEnd is the offset after the string that begins at b[i].
func stringEnd(b []byte, i int) (end int, closed bool) {
	for i++; i < len(b); i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			break
		}
		i += n
		if slashes := n - len(bytes.TrimRight(b[i-n:i], `\`)); slashes%2 == 0 {
			return i + 1, true
		}
	}
	return len(b), false
}

// run is the offset after the bytes from b[i] on that satisfy is.
func run(b []byte, i int, is func(byte) bool) int {
	for i < len(b) && is(b[i]) {
		i++
	}
	return i
}

func isNumberByte(c byte) bool {
	return '0' <= c && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80 }

// isKey reports whether the string token t of b is a key.
func (t token) isKey(b []byte) bool {
	for _, c := range b[t.hi:] {
		switch c {
		case ' ', '\t', '\r', '\n':
		default:
			return c == ':'
		}
	}
	return false
}
