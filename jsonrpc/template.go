package jsonrpc

import "toolman/jsonrpc/internal/scan"

// A Scanner is Scan for the frames of one peer. Most of them differ from an earlier one only in
// some strings and numbers. The Scanner records how one frame was built, as a template, and reads
// frames that match it in half the time. It is not safe for concurrent use.
//
// With 64 calls in flight over stdio, a toolman that uses templates answers 10 % more calls a
// second, and the route cache of package router, which depends on them, adds 10 % (fixtures/bench,
// flight64).
type Scanner struct {
	template frameTemplate
	recorded uint // templates recorded so far
	misses   uint // frames in a row that did not match
}

// A TemplateID identifies a template of one Scanner. Frames with the same TemplateID differ only in
// strings and numbers.
type TemplateID struct {
	of *Scanner
	n  uint
}

// A Scanner records a template from frame number recordAt of every recordEvery frames that do not
// match. If it used the next frame, two kinds of frames that take turns would always miss.
const recordAt, recordEvery = 2, 8

// Scan is the function Scan.
func (c *Scanner) Scan(frame []byte, m *Message) error {
	if c.template.match(frame, m) {
		c.misses = 0
		m.Template = TemplateID{c, c.recorded}
		return nil
	}
	err := Scan(frame, m)
	if err == nil {
		if c.misses++; c.misses%recordEvery == recordAt {
			c.template.record(m)
			c.recorded++
		}
	}
	return err
}

const (
	maxSlots      = 16  // in a template
	templateLimit = 512 // length of the longest frame that is recorded
)

// A frameTemplate is a frame that Scan has accepted, with slots in place of the strings and numbers
// that are values. The version and the method have no slots. Scan accepts each frame that has other
// strings and numbers in the slots, and finds its parts in the same places.
type frameTemplate struct {
	text   []byte // without the content of the slots; empty: no template
	slots  [maxSlots]slot
	nslots int

	kind    Kind
	nparams int
	odd     bool
	id      slotSpan
	parts   [2]slotSpan // result and error of a response, otherwise method and params
	params  [maxMembers]struct{ key, value slotSpan }
}

// A slot stands at a place of the template's text, for a number or for the inside of a string.
type slot struct {
	at     uint16
	number bool
}

// A slotSpan is a Span in frames that match a template.
type slotSpan struct{ lo, hi offset }

// An offset is a place in the text of a template, with the number of slots before it.
type offset struct{ at, slots uint16 }

// shifts says how far the text behind n slots has moved in a frame.
type shifts [maxSlots + 1]int

func (s *slotSpan) in(by *shifts) Span {
	return Span{int(s.lo.at) + by[s.lo.slots], int(s.hi.at) + by[s.hi.slots]}
}

// match reports whether a frame matches the template. If so, it fills in m as Scan does.
func (t *frameTemplate) match(frame []byte, m *Message) bool {
	if len(t.text) == 0 || len(frame) < len(t.text) {
		return false
	}
	var by shifts
	i, from := 0, 0
	s := scan.Scanner{B: frame}
	for k := range t.slots[:t.nslots] {
		slot := &t.slots[k]
		to := int(slot.at)
		end := i + to - from
		if end >= len(frame) || string(frame[i:end]) != string(t.text[from:to]) {
			return false
		}
		if i, from = end, to; slot.number {
			i = s.Number(i)
		} else {
			i = s.String(i-1) - 1
		}
		if i < 0 {
			return false
		}
		by[k+1] = i - from
	}
	if string(frame[i:]) != string(t.text[from:]) {
		return false
	}
	t.fill(m, &by)
	m.Frame = frame
	return true
}

// fill fills in all of m but the frame.
func (t *frameTemplate) fill(m *Message, by *shifts) {
	m.Kind, m.BothResultAndError, m.oneLine, m.nparams, m.odd = t.kind, false, true, t.nparams, t.odd
	m.ID = t.id.in(by)
	if t.kind == Response {
		m.Method, m.Params = Span{}, Span{}
		m.Result, m.Err = t.parts[0].in(by), t.parts[1].in(by)
		return
	}
	m.Method, m.Params = t.parts[0].in(by), t.parts[1].in(by)
	m.Result, m.Err = Span{}, Span{}
	for i := range t.params[:max(0, t.nparams)] {
		p := &t.params[i]
		m.params[i] = Member{p.key.in(by), p.value.in(by)}
	}
}

// record makes a template of a message that Scan has accepted, if it is simple enough.
func (t *frameTemplate) record(m *Message) {
	t.text, t.nslots = t.text[:0], 0
	if len(m.Frame) > templateLimit || m.BothResultAndError || !m.oneLine || m.nparams < 0 && m.IsObject(m.Params) {
		return
	}
	var at [maxSlots]Span
	s := scan.Scanner{B: m.Frame}
	text, from := t.text, 0
	for i := 0; i < len(m.Frame); {
		lo, hi, number := i, i, false
		switch c := m.Frame[i]; {
		case c == '"':
			if i = s.String(i); m.isFixed(lo, i) {
				continue
			}
			lo, hi = lo+1, i-1
		case c == '-' || '0' <= c && c <= '9':
			i = s.Number(i)
			hi, number = i, true
		default:
			i++
			continue
		}
		if t.nslots == maxSlots {
			return
		}
		text = append(text, m.Frame[from:lo]...)
		t.slots[t.nslots], at[t.nslots] = slot{uint16(len(text)), number}, Span{lo, hi}
		t.nslots++
		from = hi
	}
	t.text = append(text, m.Frame[from:]...)
	t.locate(m, at[:t.nslots])
}

// isFixed reports whether the string from lo to hi is the same in all frames of a template: a key,
// the method, or possibly the version.
func (m *Message) isFixed(lo, hi int) bool {
	if lo == m.Method.Lo || string(m.Frame[lo:hi]) == `"2.0"` {
		return true
	}
	next := scan.Space(m.Frame, hi)
	return next < len(m.Frame) && m.Frame[next] == ':'
}

// locate records where the parts of m are between the slots.
func (t *frameTemplate) locate(m *Message, slots []Span) {
	in := func(span Span) slotSpan { return slotSpan{offsetOf(span.Lo, slots), offsetOf(span.Hi, slots)} }
	t.kind, t.nparams, t.odd, t.id = m.Kind, m.nparams, m.odd, in(m.ID)
	t.parts = [2]slotSpan{in(m.Method), in(m.Params)}
	if m.Kind == Response {
		t.parts = [2]slotSpan{in(m.Result), in(m.Err)}
	}
	for i, p := range m.params[:max(0, m.nparams)] {
		t.params[i].key, t.params[i].value = in(p.Key), in(p.Value)
	}
}

func offsetOf(at int, slots []Span) offset {
	o := offset{at: uint16(at)}
	for _, s := range slots {
		if s.Hi > at {
			break
		}
		o.at -= uint16(s.Hi - s.Lo)
		o.slots++
	}
	return o
}
