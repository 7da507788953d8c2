package jsonrpc

// Edited returns the message with edits applied that put other values in the place of its
// values, in a frame of its own. It is what Scan makes of that frame, which is not
// looked at again. The edits are sorted.
func (m *Message) Edited(edits ...Edit) *Message {
	out := *m
	room := len(m.Frame)
	for _, e := range edits {
		room += len(e.New)
	}
	out.Frame = AppendSplice(make([]byte, 0, room), m.Frame, edits...)
	for _, s := range []*Span{&out.ID, &out.Method, &out.Params, &out.Result, &out.Err} {
		s.shift(edits)
	}
	for i := range out.params[:max(0, out.nparams)] {
		out.params[i].key.shift(edits)
		out.params[i].value.shift(edits)
	}
	return &out
}

// shift moves a span to where it is after edits.
func (s *Span) shift(edits []Edit) {
	if !s.Present() {
		return
	}
	lo, hi := 0, 0
	for _, e := range edits {
		grown := len(e.New) - (e.Span.Hi - e.Span.Lo)
		if e.Span.Hi <= s.Lo {
			lo += grown
		}
		if e.Span.Hi <= s.Hi {
			hi += grown
		}
	}
	s.Lo, s.Hi = s.Lo+lo, s.Hi+hi
}
