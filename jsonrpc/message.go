package jsonrpc

import "bytes"

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

	params  [maxMembers]Member
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

// OneLine makes a valid message fit for a transport that ends each message with a line break, in place.
// In valid JSON line breaks stand between tokens only, so that spaces can replace them.
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

// isOneLine reports whether the frame with the edits applied has no line breaks. known says that the frame
// itself has none. Some readers, such as Python's in text mode, end a line at a CR as well.
func isOneLine(frame []byte, known bool, edits []Edit) bool {
	for i := range edits {
		if !isOneLine(edits[i].New, false, nil) {
			return false
		}
	}
	return known || bytes.IndexByte(frame, '\n') < 0 && bytes.IndexByte(frame, '\r') < 0
}
