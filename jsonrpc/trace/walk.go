package trace

import (
	"bytes"
	"slices"
	"strings"
)

// sensitive are the words that make a key's value a secret; keys are compared in lower case.
var sensitive = [...]string{"authorization", "cookie", "token", "secret", "passw", "apikey", "api_key", "api-key", "credential"}

// harmless are the keys that hold such a word and are the protocol's own.
var harmless = [...]string{"progresstoken", "nextpagetoken", "pagetoken"}

// walk goes through the JSON, or what there is of it, in p. At depth 0 p is the frame: secrets are looked for in its strings and
// numbers. Deeper, p is a string's content, at says where its bytes came from, and only keys matter: find has seen the rest.
// With byKey, the values under sensitive keys go, too, and so do numbers that tell a secret by their value or hold one.
// Without it nothing goes that is no secret itself: the digits around one stay.
func (s *scrubber) walk(p []byte, at []int32, depth int, byKey bool) {
	var hide byte // 'v': the value to come; '[': the strings of this array
	for t := next(p, 0); t.kind != 0; t = next(p, t.hi) {
		switch {
		case t.kind == '"' && t.isKey(p):
			s.str(p, t, depth)
			hide = 0
			if byKey && s.isSensitive(p[t.lo+1:t.hi-1]) {
				hide = 'v'
			}
			continue
		case t.kind == '"':
			s.value(p, at, t, depth, hide != 0)
			if byKey && hide == 0 {
				s.nest(p, at, t, depth)
			}
		case t.kind == '0' && depth == 0 && (byKey && s.isNumber(p[t.lo:t.hi]) || s.isWhole(p[t.lo:t.hi])):
			s.spans = append(s.spans, span{t.lo, t.hi, true})
		}
		hide = after(t.kind, hide)
	}
}

// after is what is to be hidden once a token that is no key has passed.
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

// value looks at a string that is no key; with hide its content goes as a whole.
func (s *scrubber) value(p []byte, at []int32, t token, depth int, hide bool) {
	lo, hi := t.inner()
	switch {
	case hide && hi > lo && at == nil:
		s.spans = append(s.spans, span{lo: lo, hi: hi})
	case hide && hi > lo:
		s.spans = append(s.spans, span{lo: int(at[lo]), hi: int(at[hi])})
	default:
		s.str(p, t, depth)
	}
}

// str looks for secrets in a string or key of the frame itself.
func (s *scrubber) str(p []byte, t token, depth int) {
	if depth > 0 {
		return
	}
	lo, hi := t.inner()
	text := p[lo:hi]
	if _, escaped := s.find(view{text: text, base: lo}, false); escaped {
		text = s.views[0].text
	}
	if s.isWhole(text) {
		s.spans = append(s.spans, span{lo: lo, hi: hi})
	}
}

// nest walks through the JSON that a string may hold: a tool's text often is some.
func (s *scrubber) nest(p []byte, at []int32, t token, depth int) {
	lo, hi := t.inner()
	if depth == maxViews || !bytes.Contains(p[lo:hi], []byte(`\"`)) {
		return
	}
	v := &s.views[0] // str has just resolved it
	if depth > 0 {
		v = &s.nested[depth]
		v.resolve(view{text: p[lo:hi], at: at[lo : hi+1]}, &backslashes)
	}
	s.walk(v.text, v.at, depth+1, true)
}

// isSensitive reports whether the value under this key is a secret, whatever it is.
func (s *scrubber) isSensitive(key []byte) bool {
	if len(key) < len("token") { // the shortest of the words
		return false
	}
	if s.key.resolve(view{text: key}, &backslashes) {
		key = s.key.text
	}
	s.lower = s.lower[:0]
	for _, c := range key {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		s.lower = append(s.lower, c)
	}
	lower := string(s.lower)
	for _, w := range sensitive {
		if strings.Contains(lower, w) {
			return !slices.Contains(harmless[:], lower)
		}
	}
	return false
}
