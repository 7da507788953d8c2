package jsonrpc

import (
	"bytes"
	"fmt"
	"iter"

	"toolman/jsonrpc/internal/scan"
)

// A Member is one member of an object: where its key, without the quotes, and its value are. The
// zero Member is absent.
type Member struct{ Key, Value Span }

// Present reports whether the object has the member.
func (a Member) Present() bool { return a.Value.Present() }

// Get returns the value of a member of the object at obj. It is absent if obj is not an object or
// has no such member.
//
// A key counts only in its exact spelling and only once. A repeated key, or one that another parser
// could take for this key (other case, trailing NUL), is a *FormError: the server must not read
// another value than the one that toolman decides on.
func (m *Message) Get(obj Span, key string) (Span, error) {
	one, err := m.GetMember(obj, key)
	return one.Value, err
}

// GetMember is Get for the member with its key.
func (m *Message) GetMember(obj Span, key string) (Member, error) {
	var found [1]Member
	err := m.Find(obj, []string{key}, found[:])
	return found[0], err
}

// Find looks for several members of the object at obj in one walk over it. It puts the member with
// keys[i] into found[i], which must be as long as keys. Members that are not there are absent. Keys
// count as in Get; all members are absent after an error.
func (m *Message) Find(obj Span, keys []string, found []Member) error {
	clear(found[:len(keys)])
	if !m.IsObject(obj) {
		return nil
	}
	for one, odd := range members(m.Frame, obj) {
		if err := m.match(one, odd, keys, found); err != nil {
			return m.within(obj, err)
		}
	}
	return nil
}

// Param returns the value of a member of params. It is Get of Params without a second walk over
// what Scan has read.
func (m *Message) Param(key string) (Span, error) {
	one, err := m.ParamMember(key)
	return one.Value, err
}

// ParamMember returns a member of params with its key.
func (m *Message) ParamMember(key string) (Member, error) {
	if m.nparams < 0 {
		return m.GetMember(m.Params, key)
	}
	var found [1]Member
	keys := [1]string{key}
	for i := range m.params[:m.nparams] {
		if err := m.match(m.params[i], m.odd, keys[:], found[:]); err != nil {
			return Member{}, m.within(m.Params, err)
		}
	}
	return found[0], nil
}

// match records a member in found if it has one of the keys. odd says that the key may have escapes
// or bytes outside ASCII.
func (m *Message) match(one Member, odd bool, keys []string, found []Member) *FormError {
	name := m.Bytes(one.Key)
	for i, key := range keys {
		if !odd && len(name) != len(key) {
			continue
		}
		if odd {
			name = unescape(name)
		}
		switch {
		case string(name) != key:
			if looksLike(name, key) {
				clear(found[:len(keys)])
				return almost(name, key)
			}
		case found[i].Present():
			clear(found[:len(keys)])
			return twice(key)
		default:
			found[i] = one
		}
	}
	return nil
}

// looksLike reports whether a parser that folds case, drops NULs at the start or ends a text at a
// NUL would take name for key. The first two have let messages past a filter in Go SDKs. The third
// is how C reads.
func looksLike(name []byte, key string) bool {
	visible, _, _ := bytes.Cut(bytes.TrimLeft(name, "\x00"), []byte{0})
	return bytes.EqualFold(visible, []byte(key))
}

func almost(name []byte, key string) *FormError {
	return &FormError{What: fmt.Sprintf("the member %q is spelled almost like %s", name[:min(len(name), 64)], key)}
}

func twice(key string) *FormError {
	return &FormError{What: "the member " + key + " stands there twice"}
}

// within completes an error with the object whose member it is about.
func (m *Message) within(obj Span, err *FormError) error {
	if err.In = m.Path(obj); err.In == "" {
		err.In = "the object"
	}
	return err
}

// Path says where in the message a value is, such as "params.arguments". It is "" if the value is
// not in params, result or error. All elements of an array have the path of the array.
func (m *Message) Path(at Span) string {
	for _, root := range [...]struct {
		name string
		at   Span
	}{{"params", m.Params}, {"result", m.Result}, {"error", m.Err}} {
		if root.at.Present() && root.at.holds(at) {
			return m.pathIn(root.at, root.name, at)
		}
	}
	return ""
}

func (s Span) holds(at Span) bool { return s.Lo <= at.Lo && at.Hi <= s.Hi }

// pathIn follows at through the members of an object.
func (m *Message) pathIn(obj Span, path string, at Span) string {
	if obj == m.Params && !m.odd {
		for _, one := range m.params[:max(0, m.nparams)] {
			if one.Value == at { // without a walk
				return path + "." + string(m.Bytes(one.Key))
			}
		}
	}
	for obj != at {
		var inner Span
		for key, value := range Members(m.Frame, obj) {
			if value.holds(at) {
				inner, path = value, path+"."+key
			}
		}
		if !inner.Present() {
			break
		}
		obj = inner
	}
	return path
}

// members iterates over an object of a valid frame. The second value says whether the key has
// escapes or bytes outside ASCII.
func members(frame []byte, obj Span) iter.Seq2[Member, bool] {
	return func(yield func(Member, bool) bool) {
		if !obj.Present() || frame[obj.Lo] != '{' {
			return
		}
		s := scan.Scanner{B: frame}
		for i, more := s.First(obj.Lo + 1); more; i, more = s.After(i) {
			var one Member
			if one.Key.Lo, one.Key.Hi, i = s.Key(i); i < 0 {
				return
			}
			odd := s.Odd
			one.Value.Lo = i
			i = s.Value(i)
			if one.Value.Hi = i; i < 0 || !yield(one, odd) {
				return
			}
		}
	}
}

// Walk iterates over the members of the object at obj, if it is one.
func (m *Message) Walk(obj Span) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		for one := range members(m.Frame, obj) {
			if !yield(one) {
				return
			}
		}
	}
}

// Members iterates over the members of the object at obj, which must be part of a frame that Scan
// has accepted: the key unquoted, and the span of the value.
func Members(frame []byte, obj Span) iter.Seq2[string, Span] {
	return func(yield func(string, Span) bool) {
		for one := range members(frame, obj) {
			if !yield(string(unescape(frame[one.Key.Lo:one.Key.Hi])), one.Value) {
				return
			}
		}
	}
}

// Elements iterates over the values of the array at arr, which must be part of a frame that Scan
// has accepted.
func Elements(frame []byte, arr Span) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		if !arr.Present() || frame[arr.Lo] != '[' {
			return
		}
		s := scan.Scanner{B: frame}
		for i := s.Space(arr.Lo + 1); frame[i] != ']'; i = s.Space(i) {
			if frame[i] == ',' {
				i = s.Space(i + 1)
			}
			lo := i
			if i = s.Value(i); i < 0 || !yield(Span{lo, i}) {
				return
			}
		}
	}
}
