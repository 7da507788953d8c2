package jsonrpc

import (
	"slices"

	"toolman/jsonrpc/internal/scan"
)

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
		m.params[i].Key.shift(edits)
		m.params[i].Value.shift(edits)
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

// AppendRemoval appends edits that take members out of the object at obj, with
// the commas they leave over. Absent ones are skipped; it sorts the others by
// place. There may be one removal for an object in a splice, and it comes before
// insertions. Values that stay may be edited in the same splice.
func AppendRemoval(edits []Edit, frame []byte, obj Span, gone ...Member) []Edit {
	gone = present(gone)
	for i := 0; i < len(gone); {
		first := gone[i]
		last := first
		next, more := behindMember(frame, last)
		for i++; i < len(gone) && more && gone[i].Key.Lo-1 == next; i++ {
			last = gone[i]
			next, more = behindMember(frame, last)
		}
		edits = append(edits, Edit{Span: between(frame, obj, first, last, next, more)})
	}
	return edits
}

// between returns what goes when the members from first to last do. next is where
// the one behind them starts, if there is more.
func between(frame []byte, obj Span, first, last Member, next int, more bool) Span {
	if more {
		return Span{first.Key.Lo - 1, next}
	}
	comma := first.Key.Lo - 2
	for isSpace(frame[comma]) {
		comma--
	}
	if frame[comma] == '{' {
		return inside(obj)
	}
	return Span{comma, last.Value.Hi}
}

// AppendInsertion appends an edit that puts members, each with a comma behind it,
// at the start of the object at obj. Where nothing follows, the last comma is
// left out. Several insertions into one object may share a splice, and follow its
// removal.
func AppendInsertion(edits []Edit, frame []byte, obj Span, members []byte) []Edit {
	at := Span{obj.Lo + 1, obj.Lo + 1}
	empty := frame[scan.Space(frame, at.Lo)] == '}'
	for i := range edits {
		if edits[i].Span == at { // the comma behind that one is seen to
			edits = append(edits, Edit{})
			copy(edits[i+1:], edits[i:])
			edits[i] = Edit{at, members}
			return edits
		}
		empty = empty || Removed(edits[i], obj)
	}
	if empty {
		members = members[:len(members)-1]
	}
	return append(edits, Edit{at, members})
}

// Removed reports whether an edit takes all members out of the object at obj.
func Removed(e Edit, obj Span) bool { return e.Span == inside(obj) && len(e.New) == 0 }

func inside(obj Span) Span { return Span{obj.Lo + 1, obj.Hi - 1} }

// present sorts members by place and leaves absent ones out.
func present(all []Member) []Member {
	n := 0
	for _, a := range all {
		if !a.Present() {
			continue
		}
		i := n
		for ; i > 0 && all[i-1].Key.Lo > a.Key.Lo; i-- {
			all[i] = all[i-1]
		}
		all[i] = a
		n++
	}
	return all[:n]
}

// behindMember returns where the next member starts, at its quote, if there is
// more.
func behindMember(frame []byte, a Member) (next int, more bool) {
	i := scan.Space(frame, a.Value.Hi)
	if frame[i] != ',' {
		return i, false
	}
	return scan.Space(frame, i+1), true
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
