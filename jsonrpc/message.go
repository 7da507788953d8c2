package jsonrpc

import "bytes"

// A Span is a half-open range of bytes in a frame. The zero Span stands for an absent value.
type Span struct{ Lo, Hi int }

// Present reports whether the value is there.
func (s Span) Present() bool { return s.Hi > s.Lo }

// Kind is the kind of a message.
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

// maxMembers is how many members of params a Message records. If params has more, Param walks it
// again.
const maxMembers = 16

// A Message is a scanned frame: its kind and where its parts are. It does not own the frame. It is
// valid until the handler that got it returns.
type Message struct {
	// Frame is the whole message, without the newline.
	Frame []byte
	Kind  Kind
	// ID, Method, Params, Result and Err are the values of the members with these names, with the
	// quotes of strings.
	ID, Method, Params, Result, Err Span
	// BothResultAndError says that a response has both "result" and "error", one of them null. The
	// null one is absent here. Strict readers refuse the frame as it is.
	BothResultAndError bool
	// Template identifies the template of the frame, if a Scanner has found one.
	Template TemplateID

	params  [maxMembers]Member
	nparams int  // -1: params has more members than params can hold, or is not an object
	odd     bool // a key of params has escapes or bytes outside ASCII
	oneLine bool // the frame is known to have no line breaks
}

// Bytes returns the bytes of a span.
func (m *Message) Bytes(s Span) []byte { return m.Frame[s.Lo:s.Hi] }

// IsObject reports whether the value at s is a JSON object.
func (m *Message) IsObject(s Span) bool { return s.Present() && m.Frame[s.Lo] == '{' }

// HasID reports whether the message has an ID that is a string or a number.
func (m *Message) HasID() bool { return m.IsID(m.ID) }

// IsID reports whether the value at s is a string or a number, as IDs are.
func (m *Message) IsID(s Span) bool { return s.Present() && startsID(m.Frame[s.Lo]) }

func startsID(c byte) bool { return c == '"' || c == '-' || '0' <= c && c <= '9' }

// IsString reports whether the value at s is a JSON string.
func (m *Message) IsString(s Span) bool { return s.Present() && m.Frame[s.Lo] == '"' }

// Text returns the text of the string at s, or nil if the value is not a string. If it has no
// escapes, the result is a part of the frame.
func (m *Message) Text(s Span) []byte {
	if !m.IsString(s) {
		return nil
	}
	return Unquote(m.Frame[s.Lo:s.Hi])
}

// OneLine replaces line breaks in a valid message by spaces, in place, for transports on which a
// line break ends a message. In valid JSON there are line breaks only between values.
func OneLine(frame []byte) {
	for _, lineBreak := range []byte("\n\r") {
		for rest := frame; ; {
			i := bytes.IndexByte(rest, lineBreak)
			if i < 0 {
				break
			}
			rest[i] = ' '
			rest = rest[i+1:]
		}
	}
}

// OneLine is OneLine of the frame. It costs nothing if Scan has found no line breaks.
func (m *Message) OneLine() {
	if !m.oneLine {
		OneLine(m.Frame)
		m.oneLine = true
	}
}

// IsOneLine reports whether the message with the edits applied has no line breaks. A CR counts,
// because some readers, such as Python's in text mode, end a line there.
func (m *Message) IsOneLine(edits []Edit) bool {
	for i := range edits {
		if hasLineBreak(edits[i].New) {
			return false
		}
	}
	return m.oneLine || !hasLineBreak(m.Frame)
}

func hasLineBreak(b []byte) bool {
	return bytes.IndexByte(b, '\n') >= 0 || bytes.IndexByte(b, '\r') >= 0
}
