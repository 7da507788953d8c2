package jsonrpc

// An Edit replaces what a span covers by other bytes. A span with Lo equal to Hi
// inserts there.
type Edit struct {
	Span Span
	New  []byte
}

// AppendSplice appends frame with the edits applied. No other byte changes. It
// sorts the edits by place; they must not overlap.
func AppendSplice(dst, frame []byte, edits ...Edit) []byte {
	sortEdits(edits)
	at := 0
	for i := range edits {
		e := &edits[i]
		if e.Span.Lo < at {
			panic("jsonrpc: edits overlap")
		}
		dst = append(dst, frame[at:e.Span.Lo]...)
		dst = append(dst, e.New...)
		at = e.Span.Hi
	}
	return append(dst, frame[at:]...)
}

// appendPieces appends the parts of what AppendSplice would make of the frame.
func appendPieces(dst [][]byte, frame []byte, edits []Edit) [][]byte {
	sortEdits(edits)
	at := 0
	for i := range edits {
		e := &edits[i]
		dst = append(dst, frame[at:e.Span.Lo], e.New)
		at = e.Span.Hi
	}
	return append(dst, frame[at:])
}

// sortEdits is an insertion sort: there are at most four, mostly in order.
func sortEdits(edits []Edit) {
	for i := 1; i < len(edits); i++ {
		for j := i; j > 0 && edits[j].Span.before(edits[j-1].Span); j-- {
			a, b := &edits[j-1], &edits[j]
			a.Span, b.Span = b.Span, a.Span
			a.New, b.New = b.New, a.New
		}
	}
}

// before puts what inserts at a place before what replaces from there on.
func (s Span) before(t Span) bool { return s.Lo < t.Lo || s.Lo == t.Lo && s.Hi < t.Hi }
