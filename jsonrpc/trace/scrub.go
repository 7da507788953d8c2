package trace

import (
	"bytes"
	"cmp"
	"fmt"
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
	spans  []span
	views  [maxViews]view // of the string looked at
	other  view           // of one of those, or of the string, without other escapes
	nested [maxViews]view // of the strings inside it, by depth
	key    view
	lower  []byte
	out    []byte
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
	end, _ := s.find(view{text: p}, cut)
	s.walk(p, nil, 0, true)
	return s.replace(p[:end])
}

// values is text in which each secret is replaced by its length in p. Keys hide nothing.
func (s *scrubber) values(p []byte) []byte {
	s.spans = s.spans[:0]
	s.find(view{text: p}, false)
	s.walk(p, nil, 0, false)
	out, _ := s.replaceWith(p, appendLength)
	return out
}

// replace puts the placeholder where the spans are.
func (s *scrubber) replace(p []byte) ([]byte, bool) { return s.replaceWith(p, appendPlaceholder) }

// replaceWith puts what mark appends where the spans are. Spans that overlap are one.
func (s *scrubber) replaceWith(p []byte, mark func(dst []byte, x span) []byte) ([]byte, bool) {
	if len(s.spans) == 0 {
		return p, false
	}
	slices.SortFunc(s.spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(b.hi, a.hi)) })
	s.out = s.out[:0]
	done := 0
	for i := 0; i < len(s.spans); {
		x := s.spans[i]
		for i++; i < len(s.spans) && s.spans[i].lo < x.hi; i++ {
			x.hi = max(x.hi, s.spans[i].hi)
		}
		x.hi = min(x.hi, len(p))
		if x.lo >= x.hi {
			continue
		}
		s.out = mark(append(s.out, p[done:x.lo]...), x)
		done = x.hi
	}
	s.out = append(s.out, p[done:]...)
	return s.out, true
}

func appendPlaceholder(dst []byte, x span) []byte {
	if x.quoted {
		return append(dst, `"`+placeholder+`"`...)
	}
	return append(dst, placeholder...)
}

func appendLength(dst []byte, x span) []byte {
	return fmt.Appendf(dst, "[redacted: %d bytes]", x.hi-x.lo)
}

// find adds the spans of the secrets in p, however they are written. With cut, end is where the
// part of p begins that could be the start of a secret; otherwise it is the end of p. escaped
// reports whether p has backslashes: views[0] is then p without them.
func (s *scrubber) find(p view, cut bool) (end int, escaped bool) {
	escaped = s.views[0].resolve(p, &backslashes)
	found := func(lo, hi int) {
		if escaped {
			lo, hi = s.views[0].widen(lo, hi)
		}
		s.spans = append(s.spans, span{lo: lo, hi: hi})
	}
	end = s.look(p, cut, found)
	for i, more := 0, escaped; more; i++ {
		v := s.views[i]
		end = min(end, s.look(v, cut, found))
		more = i+1 < maxViews && s.views[i+1].resolve(v, &backslashes)
	}
	return end, escaped
}

// look calls found with the origin of every secret in v, as v is and with each of the escapings
// resolved. end is as in find.
func (s *scrubber) look(v view, cut bool, found func(lo, hi int)) (end int) {
	end = int(v.origin(len(v.text)))
	if s.longest == 0 {
		return end
	}
	if cut {
		v.text = wholeMarks(v.text)
	}
	in := func(v *view) {
		s.each(v.text, func(lo, hi int) { found(v.span(lo, hi)) })
		if cut {
			end = min(end, int(v.origin(s.tail(v.text))))
		}
	}
	in(&v)
	marks := marksIn(v.text)
	for i := range escapings {
		if marks&(1<<i) != 0 && s.other.resolve(v, &escapings[i]) {
			in(&s.other)
		}
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

// wholeMarks is p, which was cut somewhere, without the start of an escape of one of escapings
// at its end.
func wholeMarks(p []byte) []byte {
	p = bytes.TrimSuffix(p, []byte("\r"))
	if i := bytes.LastIndexByte(p, '%'); i >= max(0, len(p)-2) {
		p = p[:i]
	}
	from := max(0, len(p)-maxEntity)
	if i := bytes.LastIndexByte(p[from:], '&'); i >= 0 && bytes.IndexByte(p[from+i:], ';') < 0 {
		p = p[:from+i]
	}
	return p
}
