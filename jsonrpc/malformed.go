package jsonrpc

import "errors"

// AnsweredID tells which request a message that could not be read was to answer, if
// it does.
func AnsweredID(m *Message, err error) (id uint64, found bool) {
	head, tail := m.Frame, m.Frame
	if long, ok := errors.AsType[*TooLongError](err); ok {
		head, tail = long.Head, long.Tail
	}
	id, found = SalvageID(head, tail)
	if !found && m.ID.Present() && !m.Method.Present() {
		id, found = ParseID(m.Bytes(m.ID))
	}
	return id, found
}

// BatchOf returns the messages of a frame that is a batch, and nothing for another frame. It stops after
// more than most of them.
func BatchOf(frame []byte, most int) (elements []Span) {
	if len(frame) == 0 || frame[0] != '[' || !Valid(frame) {
		return nil
	}
	OneLine(frame)
	for at := range Elements(frame, Span{Hi: len(frame)}) {
		if elements = append(elements, at); len(elements) > most {
			break
		}
	}
	return elements
}

// Strict returns a response that had both a result and an error without the null one.
func Strict(m *Message) *Message {
	var again Message
	frame := AppendResult(nil, m.Bytes(m.ID), m.Bytes(m.Result))
	if m.Err.Present() {
		frame = AppendErrorResponse(nil, m.Bytes(m.ID), m.Bytes(m.Err))
	}
	if Scan(frame, &again) != nil {
		return m
	}
	return &again
}
