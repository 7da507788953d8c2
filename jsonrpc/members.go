package jsonrpc

import (
	"iter"

	"toolman/jsonrpc/internal/scan"
)

// A Member is one member of an object: where its key, without the quotes, and
// its value are. The zero Member is absent.
type Member struct{ Key, Value Span }

// Present reports whether the object has the member.
func (a Member) Present() bool { return a.Value.Present() }

// Find looks for members of the object at obj, all in one walk over it, and puts
// the one with keys[i] into found[i]; those that are not there are absent. As in
// Get, a key counts only in its exact spelling and only once, all else is a
// *FormError. found must be as long as keys.
func (m *Message) Find(obj Span, keys []string, found []Member) error {
	clear(found[:len(keys)])
	if !m.IsObject(obj) {
		return nil
	}
	for k, v := range members(m.Frame, obj) {
		if err := m.match(Member{k, v}, keys, found); err != nil {
			return m.within(obj, err)
		}
	}
	return nil
}

// match puts one member where it belongs, if it is one of those looked for.
func (m *Message) match(one Member, keys []string, found []Member) error {
	name := m.Frame[one.Key.Lo:one.Key.Hi]
	strange := odd(name)
	for i, key := range keys {
		if !strange && len(name) != len(key) {
			continue // it cannot even look like it
		}
		had := found[i].Value
		if err := matchKey(name, key, &found[i].Value, one.Value); err != nil {
			return err
		}
		if found[i].Value != had {
			found[i].Key = one.Key
		}
	}
	return nil
}

// Walk iterates over the members of the object at obj, if it is one.
func (m *Message) Walk(obj Span) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		if !m.IsObject(obj) {
			return
		}
		for k, v := range members(m.Frame, obj) {
			if !yield(Member{k, v}) {
				return
			}
		}
	}
}

// ParamMember returns a member of params with its key. It is to Param what Find
// is to Get.
func (m *Message) ParamMember(key string) (Member, error) {
	var found [1]Member
	keys := [1]string{key}
	if m.nparams < 0 {
		err := m.Find(m.Params, keys[:], found[:])
		return found[0], err
	}
	for i := range m.params[:m.nparams] {
		p := &m.params[i]
		if !m.alike(p.key, key) {
			continue
		}
		if err := m.match(Member{p.key, p.value}, keys[:], found[:]); err != nil {
			return Member{}, m.within(m.Params, err)
		}
	}
	return found[0], nil
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
