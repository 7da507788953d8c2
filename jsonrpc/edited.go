package jsonrpc

import "slices"

// Edit applies edits that put other values in the place of its values, and leaves the
// message as Scan would find it, which does not look at it again. It sorts the edits, of
// which nothing may be part of the frame: that is changed where it lies. Its memory, also
// what is behind its end, has to be nobody else's.
func (m *Message) Edit(edits ...Edit) {
	sortEdits(edits)
	grown := 0
	for _, e := range edits {
		grown += max(0, e.grown())
	}
	frame := slices.Grow(m.Frame, grown)
	for _, e := range slices.Backward(edits) {
		tail := frame[e.Span.Hi:]
		frame = frame[:len(frame)+e.grown()]
		copy(frame[e.Span.Lo+len(e.New):], tail)
		copy(frame[e.Span.Lo:], e.New)
	}
	m.Frame = frame
	for _, s := range []*Span{&m.ID, &m.Method, &m.Params, &m.Result, &m.Err} {
		s.shift(edits)
	}
	for i := range m.params[:max(0, m.nparams)] {
		m.params[i].key.shift(edits)
		m.params[i].value.shift(edits)
	}
}

// grown is how much longer the edit makes a frame.
func (e *Edit) grown() int { return len(e.New) - (e.Span.Hi - e.Span.Lo) }

// shift moves a span to where it is after edits.
func (s *Span) shift(edits []Edit) {
	if !s.Present() {
		return
	}
	lo, hi := 0, 0
	for _, e := range edits {
		if e.Span.Hi <= s.Lo {
			lo += e.grown()
		}
		if e.Span.Hi <= s.Hi {
			hi += e.grown()
		}
	}
	s.Lo, s.Hi = s.Lo+lo, s.Hi+hi
}
