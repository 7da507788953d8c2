package recording

import (
	"encoding/json"
	"slices"

	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
)

// Notifications with a part in calls.
const (
	Cancelled    = "notifications/cancelled"
	Progress     = "notifications/progress"
	LogMessage   = "notifications/message"
	Acknowledged = "notifications/subscriptions/acknowledged"
	Listen       = "subscriptions/listen"
)

// A reference is how a message names a request: by the ID, or by the progress token. Several
// clients in one trace may use the same.
type reference struct {
	fromClient bool
	id         string // JSON
}

// An assembler finds the calls of a session.
type assembler struct {
	open   map[reference][]*Call
	tokens map[reference][]*Call // by progress token
	live   []*Call               // those of the client without a response, in order
}

func (s *Session) assemble() {
	a := &assembler{open: make(map[reference][]*Call), tokens: make(map[reference][]*Call)}
	for _, m := range s.Messages {
		switch m.Kind {
		case trace.Request:
			s.Calls = append(s.Calls, a.request(m))
		case trace.Response:
			a.response(m)
		case trace.Notification:
			a.notification(m)
		}
	}
}

func (a *assembler) request(m *Message) *Call {
	c := &Call{Request: m}
	m.Call = c
	at := reference{m.FromClient(), string(m.ID)}
	a.open[at] = append(a.open[at], c)
	if !m.FromClient() {
		if c.Parent = a.during(m); c.Parent != nil {
			c.Parent.Script = append(c.Parent.Script, m)
		}
		return c
	}
	if token := MetaOf(m.Params)["progressToken"]; token != nil {
		at := reference{true, string(token)}
		a.tokens[at] = append(a.tokens[at], c)
	}
	a.live = append(a.live, c)
	return c
}

func (a *assembler) response(m *Message) {
	at := reference{!m.FromClient(), string(m.ID)}
	c := find(a.open[at], m)
	if c == nil {
		return
	}
	a.open[at] = slices.DeleteFunc(a.open[at], func(other *Call) bool { return other == c })
	m.Call, c.Response = c, m
	if c.FromClient() {
		a.live = slices.DeleteFunc(a.live, func(other *Call) bool { return other == c })
		c.Script = append(c.Script, m)
	} else if c.Parent != nil {
		c.Parent.Script = append(c.Parent.Script, m)
	}
}

// find returns the call that a message means: that with the same number, of the same peer, or the
// latest. A client may have another name in a later message.
func find(calls []*Call, m *Message) (best *Call) {
	rank := -1
	for _, c := range calls {
		r := 0
		switch {
		case m.Record.Call != "" && m.Record.Call == c.Request.Record.Call:
			r = 2
		case m.Peer == c.Request.Peer:
			r = 1
		}
		if r >= rank {
			best, rank = c, r
		}
	}
	return best
}

// notification attaches a notification to its call, if it has one.
func (a *assembler) notification(m *Message) {
	var p struct {
		RequestID     json.RawMessage `json:"requestId"`
		ProgressToken json.RawMessage `json:"progressToken"`
	}
	json.Unmarshal(m.Params, &p) // what is not there stays nil
	switch {
	case m.Method == Cancelled:
		if m.Call = find(a.open[reference{m.FromClient(), string(p.RequestID)}], m); m.Call != nil {
			m.Call.Cancel = m
			a.live = slices.DeleteFunc(a.live, func(other *Call) bool { return other == m.Call })
		}
	case m.FromClient():
	case m.Method == Progress:
		m.Call = find(a.tokens[reference{true, string(p.ProgressToken)}], m)
	case m.Method == LogMessage:
		m.Call = a.during(m)
	case m.Method == Acknowledged:
		m.Call = find(a.open[reference{true, string(Subscription(m.Params))}], m)
	}
	switch {
	case m.Call == nil:
	case m.Call.FromClient():
		m.Call.Script = append(m.Call.Script, m)
	case m.Call.Parent != nil:
		m.Call.Parent.Script = append(m.Call.Parent.Script, m)
	}
}

// during returns the client's call to which a message of the server belongs: the one with the same
// number, the only one that is open, or for a request the latest.
func (a *assembler) during(m *Message) *Call {
	var open []*Call
	for _, c := range a.live {
		if m.Record.Call != "" && c.Request.Record.Call == m.Record.Call {
			return c
		}
		if c.Request.Method != Listen && c.Request.Method != string(mcpwire.Initialize) {
			open = append(open, c)
		}
	}
	if len(open) == 1 || len(open) > 1 && m.Kind == trace.Request {
		return open[len(open)-1]
	}
	return nil
}

// MetaOf returns the members of _meta in params.
func MetaOf(params json.RawMessage) map[string]json.RawMessage {
	var p struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	json.Unmarshal(params, &p) // what is not there stays nil
	return p.Meta
}

// Subscription returns the ID of the subscriptions/listen that a notification names, or nil.
func Subscription(params json.RawMessage) json.RawMessage {
	return MetaOf(params)[mcpwire.KeySubscription]
}
