package router

import (
	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// A lastRoute is where the latest call of a tool went. The next one that is built like
// it and names the same tool goes there, too, as long as the session's view is the same:
// what routeLocked finds out need not be found out again.
type lastRoute struct {
	form   jsonrpc.Form
	view   *View
	name   []byte // quoted
	target target
}

// rememberLocked keeps the route of a legacy request without an envelope.
func (s *Session) rememberLocked(m *jsonrpc.Message, method mcpwire.Method, at jsonrpc.Span, t target) {
	if method == mcpwire.ToolsCall && m.Form != (jsonrpc.Form{}) && !s.modern && !s.envelope.Meta.Present() && !t.entry.asksFirst() {
		l := &s.lastRoute
		l.form, l.view, l.name, l.target = m.Form, s.view.Load(), append(l.name[:0], m.Bytes(at)...), t
	}
}

// sameRouteLocked reports whether a request takes the last route, and where it names the tool.
func (s *Session) sameRouteLocked(m *jsonrpc.Message) (at jsonrpc.Span, ok bool) {
	l := &s.lastRoute
	if m.Form != l.form || l.view != s.view.Load() || l.view == nil ||
		s.modern || s.envelope.Meta.Present() || !s.openLocked() || s.chore != nil || len(s.parked) > 0 {
		return at, false
	}
	at, _ = m.Param("name")
	return at, string(m.Bytes(at)) == string(l.name)
}
