package jsonrpc

// Path says where in the message a value is, as "params.arguments"; "" when it is
// in none of params, result and error. Elements of arrays are not told apart.
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

// within says of an error of a member which object that belongs to.
func (m *Message) within(obj Span, err error) error {
	if e, ok := err.(*FormError); ok {
		if e.In = m.Path(obj); e.In == "" {
			e.In = "the object"
		}
	}
	return err
}
