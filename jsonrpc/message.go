package jsonrpc

// A Span is a half-open range of bytes in a frame. The zero Span means that
// the thing it stands for is absent.
type Span struct{ Lo, Hi int }

// Present reports whether the span stands for something.
func (s Span) Present() bool { return s.Hi > s.Lo }

// Kind tells the three forms a JSON-RPC message can have.
type Kind uint8

// The kinds of message (JSON-RPC 2.0, sections 4 and 5).
const (
	Invalid Kind = iota
	Request
	Notification
	Response
)

// String returns the kind as the trace spells it.
func (k Kind) String() string {
	return [...]string{"invalid", "request", "notification", "response"}[k]
}

// maxMembers is how many members of params a Message remembers; an object with
// more is walked again when it is asked for one.
const maxMembers = 16

type member struct{ key, value Span } // key: without its quotes

// A Message is a scanned frame: its kind and where its parts are. It does not
// own the frame and is valid until the handler it was given to returns.
type Message struct {
	// Frame is the whole message, without the newline.
	Frame []byte
	Kind  Kind
	// ID, Method, Params, Result and Err span the values of the members of
	// these names, quotes included.
	ID, Method, Params, Result, Err Span
	// Loose says that a response carried both "result" and "error", one of them
	// null. The null one is absent here, and the frame cannot be passed on as
	// it is: strict readers refuse it.
	Loose bool
	// Template is that of the frame, if a Scanner has found one.
	Template TemplateID

	params  [maxMembers]member
	nparams int  // -1: params has more members than fit, or is no object
	odd     bool // a key of params is spelled with escapes or outside ASCII
	oneLine bool // Frame is known to have no line breaks
}

// Bytes returns the bytes a span covers.
func (m *Message) Bytes(s Span) []byte { return m.Frame[s.Lo:s.Hi] }

// IsObject reports whether the value at s is a JSON object.
func (m *Message) IsObject(s Span) bool { return s.Present() && m.Frame[s.Lo] == '{' }

// HasID reports whether the message has an ID that is a string or a number.
func (m *Message) HasID() bool {
	if !m.ID.Present() {
		return false
	}
	c := m.Frame[m.ID.Lo]
	return c == '"' || c == '-' || '0' <= c && c <= '9'
}

// IsString reports whether the value at s is a JSON string.
func (m *Message) IsString(s Span) bool { return s.Present() && m.Frame[s.Lo] == '"' }

// Text returns the string at s, unquoted. Without escapes, which is the usual
// case, the result is a part of the frame; it is nil when s is no string.
func (m *Message) Text(s Span) []byte {
	if !m.IsString(s) {
		return nil
	}
	return Unquote(m.Frame[s.Lo:s.Hi])
}

// Param returns the value of a member of params. It is Get on Params, without
// a second walk over what Scan has already seen.
func (m *Message) Param(key string) (Span, error) {
	if m.nparams < 0 {
		return m.Get(m.Params, key)
	}
	var found Span
	for i := range m.params[:m.nparams] {
		p := &m.params[i]
		if !m.alike(p.key, key) {
			continue
		}
		if err := matchKey(m.Frame[p.key.Lo:p.key.Hi], key, &found, p.value); err != nil {
			return Span{}, m.within(m.Params, err)
		}
	}
	return found, nil
}

// alike reports whether a key of params, in whatever spelling, may be read as key.
func (m *Message) alike(at Span, key string) bool {
	return m.odd || at.Hi-at.Lo == len(key) && (key == "" || m.Frame[at.Lo]|0x20 == key[0]|0x20)
}

// Get returns the value of a member of the object at obj, or an absent span
// when obj is no object or has no such member. A key counts only in its exact
// spelling and only once: a repeated key, or one that another parser could take
// for this key (other case, trailing NUL), is a *FormError, because what toolman
// decides on and what the server reads must be the same.
func (m *Message) Get(obj Span, key string) (Span, error) {
	if !m.IsObject(obj) {
		return Span{}, nil
	}
	var found Span
	for k, v := range members(m.Frame, obj) {
		if err := matchKey(m.Frame[k.Lo:k.Hi], key, &found, v); err != nil {
			return Span{}, m.within(obj, err)
		}
	}
	return found, nil
}
