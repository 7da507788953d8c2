package redact

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"unicode/utf16"
)

const (
	placeholder = "[redacted]"
	maxNesting  = 4 // levels of JSON inside strings of JSON that are searched
)

// A span is a part of the text to be replaced.
type span struct {
	lo, hi int
	quotes int // of the replacement: 0: none; 1: "; 2: \" in a string; and so on
}

// A Redactor replaces secrets. It reuses its buffers, so one goroutine uses it at a time. Patterns
// must be set.
type Redactor struct {
	*Patterns
	// Keys, if not nil, decides in place of the usual words which keys have secret values. These
	// are then replaced whole, whatever they are.
	Keys func(key string) bool

	spans  []span
	views  [maxNesting]view // of the current string
	other  view             // of one of these with other escapes resolved
	nested [maxNesting]view // of the strings inside it, by depth
	key    view
	out    []byte
	marks  []int // where the replacements are in out
}

// JSON returns p, which is valid JSON, without secrets. The result is valid until the next call.
func (r *Redactor) JSON(p []byte) (out []byte, found bool) {
	if r.Keys == nil && r.clean(p) {
		r.marks = r.marks[:0]
		return p, false
	}
	r.spans = r.spans[:0]
	r.walk(p, nil, 0, true)
	return r.replace(p, appendPlaceholder)
}

// Text does the same with any bytes. If cut is true, p is the start of a longer text, and loses its
// end if that could be the start of a secret.
func (r *Redactor) Text(p []byte, cut bool) (out []byte, found bool) {
	r.spans = r.spans[:0]
	if cut {
		p = trimEscape(p)
	}
	end, _ := r.find(view{text: p}, cut)
	r.walk(p, nil, 0, true)
	return r.replace(p[:end], appendPlaceholder)
}

// values replaces each secret by its length in p, and nothing because of its key.
func (r *Redactor) values(p []byte) []byte {
	r.spans = r.spans[:0]
	r.find(view{text: p}, false)
	r.walk(p, nil, 0, false)
	out, _ := r.replace(p, func(dst []byte, x span) []byte { return fmt.Appendf(dst, "[redacted: %d bytes]", x.hi-x.lo) })
	return out
}

// replace puts the result of mark in place of the spans. Spans that overlap are one.
func (r *Redactor) replace(p []byte, mark func(dst []byte, x span) []byte) ([]byte, bool) {
	r.marks = r.marks[:0]
	if len(r.spans) == 0 {
		return p, false
	}
	slices.SortFunc(r.spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(b.hi, a.hi)) })
	r.out = r.out[:0]
	done := 0
	for i := 0; i < len(r.spans); {
		x := r.spans[i]
		for i++; i < len(r.spans) && r.spans[i].lo < x.hi; i++ {
			x.hi = max(x.hi, r.spans[i].hi)
		}
		if x.hi = min(x.hi, len(p)); x.lo < x.hi {
			r.out = append(r.out, p[done:x.lo]...)
			r.marks = append(r.marks, len(r.out))
			r.out = mark(r.out, x)
			done = x.hi
		}
	}
	r.out = append(r.out, p[done:]...)
	return r.out, true
}

func appendPlaceholder(dst []byte, x span) []byte {
	dst = appendQuote(dst, x.quotes)
	return appendQuote(append(dst, placeholder...), x.quotes)
}

// appendQuote appends a quote with the backslashes that it needs in JSON in n-1 strings.
func appendQuote(dst []byte, n int) []byte {
	if n == 0 {
		return dst
	}
	for range 1<<(n-1) - 1 {
		dst = append(dst, '\\')
	}
	return append(dst, '"')
}

// Replaced returns how many placeholders the latest result has got.
func (r *Redactor) Replaced() int { return len(r.marks) }

// find adds the spans of the secrets in p in all spellings. If cut is true, end is the start of the
// end of p that could be the start of a secret; otherwise it is the end of p. If p has backslashes,
// escaped is true, and views[0] is p with these resolved.
func (r *Redactor) find(p view, cut bool) (end int, escaped bool) {
	escaped = r.views[0].resolve(p, &backslashes)
	found := func(lo, hi int) {
		if escaped {
			lo, hi = r.views[0].widen(lo, hi)
		}
		r.spans = append(r.spans, span{lo: lo, hi: hi})
	}
	end = r.search(p, cut, found)
	for i, more := 0, escaped; more; i++ {
		v := r.views[i]
		end = min(end, r.search(v, cut, found))
		more = i+1 < maxNesting && r.views[i+1].resolve(v, &backslashes)
	}
	return end, escaped
}

// search finds the secrets in v: in its text as it is, and after each of the other escapings was
// resolved. It calls found with the place of each in the original text. It returns end as find
// does.
func (r *Redactor) search(v view, cut bool, found func(lo, hi int)) (end int) {
	end = int(v.origin(len(v.text)))
	if r.longest == 0 {
		return end
	}
	if cut {
		v.text = trimOtherEscape(v.text)
	}
	in := func(v *view) {
		r.each(v.text, func(lo, hi int) { found(v.span(lo, hi)) })
		if cut {
			end = min(end, int(v.origin(r.tail(v.text))))
		}
	}
	in(&v)
	marks := marksIn(v.text)
	for i := range escapings {
		if marks&(1<<i) != 0 && r.other.resolve(v, &escapings[i]) {
			in(&r.other)
		}
	}
	return end
}

// trimEscape returns p, which was cut, without an escape or half of a surrogate pair that the cut
// may have split, because it would hide the start of a secret.
func trimEscape(p []byte) []byte {
	p = dropEscape(p)
	if n := len(p) - len(`uD83D`); n > 0 && p[n-1] == '\\' {
		if c, ok := unicodeEscape(p[n-1:]); ok && utf16.IsSurrogate(c) && c < 0xdc00 {
			return dropEscape(p)
		}
	}
	return p
}

// dropEscape returns p without an escape near its end and what follows it.
func dropEscape(p []byte) []byte {
	const near = 12 // bytes of the longest escape
	from := max(0, len(p)-near)
	if i := bytes.LastIndexByte(p[from:], '\\'); i >= 0 {
		return bytes.TrimRight(p[:from+i], `\`)
	}
	return p
}

// trimOtherEscape returns p, which was cut, without the start of one of the other escapes at its
// end.
func trimOtherEscape(p []byte) []byte {
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
