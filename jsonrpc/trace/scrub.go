package trace

import (
	"bytes"
	"cmp"
	"slices"
	"unicode/utf16"
)

const (
	placeholder = "[redacted]"
	maxViews    = 4 // how often JSON may be packed into a string of JSON and still be looked through
)

// A span is a stretch of text to be replaced.
type span struct {
	lo, hi int
	quoted bool // the replacement needs quotes: it was a number
}

// A scrubber finds secrets and replaces them. It keeps its buffers from one use to the next and belongs to one goroutine.
type scrubber struct {
	*patterns
	spans   []span
	removed []int          // bytes that each replacement took out
	views   [maxViews]view // of the string looked at
	nested  [maxViews]view // of the strings inside it, by depth
	key     view
	lower   []byte
	out     []byte
}

// json is p, which is valid JSON, without secrets; p itself if it holds none. The result is valid until the next use.
func (s *scrubber) json(p []byte) (out []byte, found bool) {
	s.spans = s.spans[:0]
	s.walk(p, nil, 0, true)
	return s.replace(p)
}

// text is the same for any bytes. With cut, p is the start of something longer, and an end that could be the start of a secret
// is left out.
func (s *scrubber) text(p []byte, cut bool) (out []byte, found bool) {
	s.spans = s.spans[:0]
	if cut {
		p = wholeEscapes(p)
	}
	end := s.find(p, 0, cut)
	s.walk(p, nil, 0, true)
	return s.replace(p[:end])
}

// values is text without the secrets alone: nothing is hidden for its key.
func (s *scrubber) values(p []byte) []byte {
	s.spans = s.spans[:0]
	s.find(p, 0, false)
	s.walk(p, nil, 0, false)
	out, _ := s.replace(p)
	return out
}

// replace puts the placeholder where the spans are.
func (s *scrubber) replace(p []byte) ([]byte, bool) {
	s.removed = s.removed[:0]
	if len(s.spans) == 0 {
		return p, false
	}
	slices.SortFunc(s.spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(b.hi, a.hi)) })
	s.out = s.out[:0]
	done := 0
	for _, x := range s.spans {
		x.hi = min(x.hi, len(p))
		if x.hi <= done || x.lo >= len(p) {
			continue
		}
		if x.lo >= done {
			s.out = append(s.out, p[done:x.lo]...)
			s.out = appendPlaceholder(s.out, x.quoted)
			s.removed = append(s.removed, 0)
			done = x.lo
		}
		s.removed[len(s.removed)-1] += x.hi - done
		done = x.hi
	}
	s.out = append(s.out, p[done:]...)
	return s.out, true
}

func appendPlaceholder(dst []byte, quoted bool) []byte {
	if quoted {
		return append(dst, `"`+placeholder+`"`...)
	}
	return append(dst, placeholder...)
}

// find adds the spans of the secrets in p, which begins at base, in whatever spelling. With cut it returns the length of p
// without an end that could be the start of a secret.
func (s *scrubber) find(p []byte, base int, cut bool) (end int) {
	end = len(p)
	if cut {
		end = s.tail(p)
	}
	escaped := bytes.IndexByte(p, '\\') >= 0
	if escaped {
		s.views[0].resolve(p, nil, 0)
	}
	s.each(p, func(lo, hi int) {
		if escaped {
			lo, hi = s.views[0].widen(lo, hi)
		}
		s.spans = append(s.spans, span{lo: base + lo, hi: base + hi})
	})
	for i := 0; escaped && i < maxViews; i++ {
		v := &s.views[i]
		if i > 0 {
			v.resolve(s.views[i-1].text, s.views[i-1].at, 0)
		}
		s.each(v.text, func(lo, hi int) {
			lo, hi = v.span(lo, hi)
			s.spans = append(s.spans, span{lo: base + lo, hi: base + hi})
		})
		if cut {
			end = min(end, int(v.at[s.tail(v.text)]))
		}
		escaped = bytes.IndexByte(v.text, '\\') >= 0
	}
	return end
}

// wholeEscapes is p, which was cut somewhere, without an escape, or half of a surrogate pair, that the cut may have split: it
// would hide the start of a secret.
func wholeEscapes(p []byte) []byte {
	p = dropEscape(p)
	if n := len(p) - len(`uD83D`); n > 0 && p[n-1] == '\\' {
		if r, ok := unicodeEscape(p[n-1:]); ok && utf16.IsSurrogate(r) && r < 0xdc00 {
			return dropEscape(p)
		}
	}
	return p
}

// dropEscape is p without the escape at its end, if there is one, and what follows it.
func dropEscape(p []byte) []byte {
	const near = 12 // where an escape may begin that goes on beyond the end
	from := max(0, len(p)-near)
	if i := bytes.LastIndexByte(p[from:], '\\'); i >= 0 {
		return bytes.TrimRight(p[:from+i], `\`)
	}
	return p
}
