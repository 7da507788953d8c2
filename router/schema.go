package router

import (
	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// InputSchema returns the inputSchema of a tool that the client may call, as its server
// wrote it, by the name that the client knows; nil when there is none. The bytes are not
// the caller's to change.
func (s *Session) InputSchema(tool []byte) []byte {
	t, verdict := s.view.Load().find(mcpwire.Tool, tool)
	if verdict != Active || t.entry == nil {
		return nil
	}
	return t.entry.InputSchema()
}

// InputSchema returns the inputSchema of a tool as its server wrote it; nil when there is
// none. The bytes are not the caller's to change.
func (e *Entry) InputSchema() []byte {
	m := jsonrpc.Message{Frame: e.Item.Raw}
	at, err := m.Get(jsonrpc.Span{Hi: len(m.Frame)}, "inputSchema")
	if err != nil || !at.Present() {
		return nil
	}
	return m.Bytes(at)
}
