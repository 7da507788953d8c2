package breakpoint

import (
	"encoding/json"
	"fmt"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/trace"
)

// An Event is what a Client learns of its messages and rules.
type Event struct {
	Event string `json:"event"` // held, released, fault, rules or passed_by; others belong to the connection

	// Of a message.
	N      uint64          `json:"n,omitempty"` // its number while it is held
	Rule   int             `json:"rule,omitempty"`
	Taken  int             `json:"taken,omitempty"` // how many messages the rule has chosen
	At     *time.Time      `json:"at,omitempty"`    // when it came
	From   string          `json:"from,omitempty"`
	Leg    trace.Leg       `json:"leg,omitempty"`
	Dir    trace.Dir       `json:"dir,omitempty"`
	Peer   string          `json:"peer,omitempty"`
	Kind   trace.Kind      `json:"kind,omitempty"`
	Method string          `json:"method,omitempty"`
	Name   string          `json:"name,omitempty"`
	ID     json.RawMessage `json:"id,omitempty"`
	Done   string          `json:"done,omitempty"` // what was done: as in the trace
	HeldMS int64           `json:"held_ms,omitempty"`
	Until  *time.Time      `json:"until,omitempty"` // when it goes on by itself
	Text   string          `json:"text,omitempty"`
	Bytes  int             `json:"bytes,omitempty"`
	Msg    json.RawMessage `json:"msg,omitempty"`

	Rules []Rule `json:"rules,omitempty"` // all of the client
}

// PassedBy is the event of a message that a rule would have held, if there were room.
const PassedBy = "passed_by"

// event returns the event of a message.
func (m *message) event(name, done, text string) Event {
	e := Event{Event: name, From: m.from, Leg: m.record.Leg, Dir: m.record.Dir, Peer: m.record.Peer, Kind: m.kind, Method: m.record.Method, Name: m.record.Name,
		Done: done, Text: text, Bytes: len(m.Frame)}
	if e.Name == "" && len(m.names) > 0 {
		e.Name = m.names[0]
	}
	if id := m.id(); id != nil {
		e.ID = append(json.RawMessage{}, id...)
	}
	return e
}

// write writes the event to the trace. msg is the message as it came if another goes on; nil: none.
func (d *Debugger) write(e *Event, held time.Duration, msg []byte) {
	text := e.Text
	if e.Rule > 0 {
		text = fmt.Sprintf("%s by rule %d", text, e.Rule)
	}
	d.trace.Load().Event(trace.Event{Event: e.Event, Peer: e.Peer, Text: text,
		Debugged: &trace.Debugged{Hold: e.N, Leg: e.Leg, Dir: e.Dir, Kind: e.Kind, Method: e.Method, Name: e.Name, ID: e.ID, Done: e.Done, Held: held, Msg: msg}})
}

// fault reports what a rule does to a message.
func (d *Debugger) fault(r *rule, m *message, done, text string) {
	e := m.event(trace.EventFault, done, text)
	var before []byte
	if done == trace.DoneAnswered && m.Kind == jsonrpc.Response {
		before = m.Frame
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	e.Rule, e.Taken = r.N, r.Taken
	d.write(&e, 0, before)
	r.client.notify(e)
}
