package jsonrpc

import (
	"slices"

	"toolman/jsonrpc/internal/scan"
)

// An Edit replaces the bytes of a span. A span with Lo equal to Hi inserts there.
type Edit struct {
	Span Span
	New  []byte
}

// AppendSplice appends frame with the edits applied. No other byte changes. It sorts the edits by
// place. They must not overlap.
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

// AppendPieces appends the pieces of which AppendSplice makes its result.
func AppendPieces(dst [][]byte, frame []byte, edits []Edit) [][]byte {
	sortEdits(edits)
	at := 0
	for i := range edits {
		e := &edits[i]
		dst = append(dst, frame[at:e.Span.Lo], e.New)
		at = e.Span.Hi
	}
	return append(dst, frame[at:])
}

// sortEdits is an insertion sort: there are at most four edits, mostly in order. What inserts at a
// place comes before what replaces the bytes from there on.
func sortEdits(edits []Edit) {
	for i := 1; i < len(edits); i++ {
		for j := i; j > 0; j-- {
			a, b := &edits[j-1], &edits[j]
			if s, t := b.Span, a.Span; s.Lo > t.Lo || s.Lo == t.Lo && s.Hi >= t.Hi {
				break
			}
			a.Span, b.Span = b.Span, a.Span
			a.New, b.New = b.New, a.New
		}
	}
}

// Edit replaces values of the message by other values, in place. The message is then as Scan would
// find it, without another scan. Edit sorts the edits. Their bytes must not be part of the frame,
// and nothing else may use the memory of the frame, including the memory behind its end.
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

// Spliced applies the edits to a copy of the frame, whose bytes it appends to room[:0], and sets to
// as Scan would. It only scans the copy if an edit does not just replace a value by another one.
// The error is that of Scan. With a frame of 1 MB this makes a call over HTTP 10 % faster
// (fixtures/bench, http1m).
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

// shift moves all spans to where they are after the edits.
func (m *Message) shift(edits []Edit) {
	m.Template = TemplateID{} // the new values may be of another type
	m.oneLine = m.oneLine && m.IsOneLine(edits)
	for _, s := range []*Span{&m.ID, &m.Method, &m.Params, &m.Result, &m.Err} {
		s.shift(edits)
	}
	for i := range m.params[:max(0, m.nparams)] {
		m.params[i].Key.shift(edits)
		m.params[i].Value.shift(edits)
	}
}

// grown returns by how many bytes the edit makes a frame longer.
func (e *Edit) grown() int { return len(e.New) - (e.Span.Hi - e.Span.Lo) }

// shift moves a span to where it is after the edits.
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

// AppendRemoval appends edits that remove members from the object at obj, with the commas that are
// left over. It skips absent members and sorts the others by place. A splice may have one removal
// for each object, before its insertions. It may also edit the values that stay.
func AppendRemoval(edits []Edit, frame []byte, obj Span, gone ...Member) []Edit {
	gone = slices.DeleteFunc(gone, func(a Member) bool { return !a.Present() })
	slices.SortFunc(gone, func(a, b Member) int { return a.Key.Lo - b.Key.Lo })
	for i := 0; i < len(gone); {
		first := gone[i]
		last := first
		next, more := behindMember(frame, last)
		for i++; i < len(gone) && more && gone[i].Key.Lo-1 == next; i++ {
			last = gone[i]
			next, more = behindMember(frame, last)
		}
		edits = append(edits, Edit{Span: removalOf(frame, obj, first, last, next, more)})
	}
	return edits
}

// removalOf returns the span to remove for the members from first to last. next is where the member
// behind them starts, if there is one.
func removalOf(frame []byte, obj Span, first, last Member, next int, more bool) Span {
	if more {
		return Span{first.Key.Lo - 1, next}
	}
	comma := first.Key.Lo - 2
	for frame[comma] != ',' && frame[comma] != '{' { // white space
		comma--
	}
	if frame[comma] == '{' {
		return inside(obj)
	}
	return Span{comma, last.Value.Hi}
}

// behindMember returns where the next member starts, at its quote, if there is one.
func behindMember(frame []byte, a Member) (next int, more bool) {
	i := scan.Space(frame, a.Value.Hi)
	if frame[i] != ',' {
		return i, false
	}
	return scan.Space(frame, i+1), true
}

// AppendInsertion appends an edit that inserts members, each with a comma behind it, at the start
// of the object at obj. The last comma is left out if nothing follows. A splice may have several
// insertions into one object, after the removal.
func AppendInsertion(edits []Edit, frame []byte, obj Span, members []byte) []Edit {
	at := Span{obj.Lo + 1, obj.Lo + 1}
	empty := frame[scan.Space(frame, at.Lo)] == '}'
	for i := range edits {
		if edits[i].Span == at { // that insertion has the right comma at its end
			return slices.Insert(edits, i, Edit{at, members})
		}
		empty = empty || Removed(edits[i], obj)
	}
	if empty {
		members = members[:len(members)-1]
	}
	return append(edits, Edit{at, members})
}

// Removed reports whether an edit removes all members of the object at obj.
func Removed(e Edit, obj Span) bool { return e.Span == inside(obj) && len(e.New) == 0 }

func inside(obj Span) Span { return Span{obj.Lo + 1, obj.Hi - 1} }
