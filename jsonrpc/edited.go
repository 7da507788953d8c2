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
	m.shift(edits)
}

// Spliced puts into to what Scan would find in the frame with edits applied, which it makes in
// room, whose content counts for nothing. Where they put other values in the place of values it
// does not look at it again. The error is one of Scan.
func (m *Message) Spliced(to *Message, room []byte, edits ...Edit) error {
	frame := AppendSplice(room[:0], m.Frame, edits...)
	for _, e := range edits {
		inserts, removes := !e.Span.Present(), len(e.New) == 0
		if inserts || removes || e.Span == m.Params {
			return Scan(frame, to)
		}
	}
	*to = *m
	to.Frame = frame
	to.shift(edits)
	return nil
}

// shift moves all spans to where they are after edits.
func (m *Message) shift(edits []Edit) {
	m.Template = TemplateID{} // values of another kind may be in their place
	m.oneLine = isOneLine(nil, m.oneLine, edits)
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
