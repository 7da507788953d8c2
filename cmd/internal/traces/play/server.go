package play

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces/compare"
	"toolman/cmd/internal/traces/dialog"
	"toolman/cmd/internal/traces/recording"
	"toolman/jsonrpc"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
)

// A server plays a recorded server. All of it runs on one goroutine.
type server struct {
	session *recording.Session
	index   *index
	rules   *compare.Rules
	conn    *dialog.Conn
	report  *Report

	after  map[int][]*recording.Message // what the server had sent by itself, by the place of the message before it
	done   map[int]bool                 // messages that were sent or have come
	runs   map[string]*run              // open calls, by the ID of this client
	asks   map[string]*ask              // open requests of the server, by ID
	lastID int
	listen map[string]string // IDs of this client for recorded IDs of subscriptions
}

// A run is a call of this client, and how far its script was played.
type run struct {
	call      *recording.Call
	id        string // of this client
	token     json.RawMessage
	next      int             // of Call.Script
	answered  map[string]bool // recorded IDs of the requests of the server that have an answer
	cancelled bool
	again     bool // the recorded call was played before
}

// An ask is a request to this client.
type ask struct {
	call *recording.Call
	run  *run // the call that it is part of, or nil
}

// Serve plays the server of a recording until the client ends, or ctx does.
func Serve(ctx context.Context, s *recording.Session, conn *dialog.Conn, rules *compare.Rules) *Report {
	p := &server{session: s, index: newIndex(s, rules), rules: rules, conn: conn, report: &Report{Session: s},
		after: make(map[int][]*recording.Message), done: make(map[int]bool), runs: make(map[string]*run), asks: make(map[string]*ask), listen: make(map[string]string)}
	for i, m := range s.Messages {
		if isOwn(m) {
			p.after[i-1] = append(p.after[i-1], m)
		}
	}
	p.perform(-1)
	for {
		select {
		case e := <-conn.Events():
			if e.End != nil {
				p.end()
				return p.report
			}
			p.event(&e)
		case <-ctx.Done():
			return p.report
		}
	}
}

// isOwn reports whether the server sent a message by itself: not as a part of a call of the client.
func isOwn(m *recording.Message) bool {
	switch {
	case m.FromClient() || m.Kind == trace.Response:
		return false
	case m.Kind == trace.Request:
		return m.Call.Parent == nil
	}
	return m.Call == nil || !m.Call.FromClient() && m.Call.Parent == nil
}

// perform notes that a message has come, or was sent, and sends what the server had sent after it.
func (p *server) perform(at int) {
	if p.done[at] {
		return
	}
	p.done[at] = true
	for _, m := range p.after[at] {
		if m.Kind == trace.Request {
			p.ask(m.Call, nil)
		} else {
			p.notify(m)
		}
		p.perform(m.At)
	}
}

func (p *server) event(e *dialog.Event) {
	switch {
	case e.Kind == jsonrpc.Request:
		p.request(e)
	case e.Kind == jsonrpc.Response:
		p.answer(e)
	case e.Kind == jsonrpc.Notification && e.Method == recording.Cancelled:
		p.cancel(e)
	case e.Kind == jsonrpc.Notification:
		p.notification(e)
	default:
		p.report.Stray++
	}
}

func (p *server) request(e *dialog.Event) {
	asked := requestOf(e)
	c, differ := p.index.find(asked)
	if c == nil && e.Method == string(mcpwire.Ping) {
		p.conn.Respond(e.ID, json.RawMessage("{}"), nil)
		return
	}
	if c == nil {
		s := p.index.closest(asked)
		p.report.unknown(asked, s)
		p.conn.Respond(e.ID, nil, s.object())
		return
	}
	p.report.matched(asked, c, differ)
	r := &run{call: c, id: e.ID, token: recording.MetaOf(e.Params)["progressToken"], answered: make(map[string]bool), again: p.index.served[c]}
	p.index.served[c] = true
	if c.Request.Method == recording.Listen {
		p.listen[string(c.Request.ID)] = e.ID
	}
	p.runs[r.id] = r
	if !r.again && slices.Contains(p.session.Calls, c) {
		p.perform(c.Request.At)
	}
	p.advance(r)
}

// object returns the error for a stranger.
func (s *stranger) object() json.RawMessage {
	type closest struct {
		Method      string               `json:"method"`
		Name        string               `json:"name,omitempty"`
		Line        uint64               `json:"line"`
		Differences []compare.Difference `json:"differences,omitempty"`
	}
	object := struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    any    `json:"data,omitempty"`
	}{Code: s.code, Message: "toolman trace play: " + s.why}
	if s.near != nil {
		m := s.near.Request
		object.Data = map[string]closest{"closest": {m.Method, m.Name, m.Seq, s.differ}}
	}
	return cli.JSON(object)
}

// advance plays the script of a call as far as it can be.
func (p *server) advance(r *run) {
	for ; r.next < len(r.call.Script); r.next++ {
		m := r.call.Script[r.next]
		switch {
		case m.FromClient() && m.Kind == trace.Response:
			if !r.answered[string(m.ID)] {
				return
			}
		case m.FromClient(): // a cancellation
			if m == r.call.Cancel && !r.cancelled {
				return
			}
		case m == r.call.Response:
			if r.call.Request.Method == recording.Listen && !r.cancelled {
				return // it ends with the session
			}
			p.respond(r)
			p.sent(r, m)
			return
		case m.Kind == trace.Request:
			p.ask(m.Call, r)
			p.sent(r, m)
		default:
			p.step(r, m)
			p.sent(r, m)
		}
	}
	if r.call.Response == nil && r.call.Cancel == nil && r.call.Request.Method != recording.Listen {
		p.fail(r, "the recording has no response to this call")
	}
}

// sent notes that a message of a script was sent.
func (p *server) sent(r *run, m *recording.Message) {
	if !r.again {
		p.perform(m.At)
	}
}

// respond sends the recorded response.
func (p *server) respond(r *run) {
	m := r.call.Response
	if m.Trunc || m.Msg == nil {
		p.fail(r, "the recording has only a part of the response")
		return
	}
	delete(p.runs, r.id)
	p.conn.Respond(r.id, p.subscribed(m.Result), m.Error)
}

// fail answers a call with an error that is not in the recording.
func (p *server) fail(r *run, why string) {
	delete(p.runs, r.id)
	p.report.fail(r.call, why)
	p.conn.Respond(r.id, nil, (&stranger{code: jsonrpc.CodeInternalError, why: why, near: r.call}).object())
}

// step sends a notification of a call.
func (p *server) step(r *run, m *recording.Message) {
	switch m.Method {
	case recording.Progress:
		if r.token != nil {
			p.conn.Notify(m.Method, with(m.Params, "progressToken", r.token))
		}
	case recording.Cancelled: // of a request of the server
		for id, a := range p.asks {
			if a.call == m.Call {
				delete(p.asks, id)
				p.conn.Notify(m.Method, with(m.Params, "requestId", json.RawMessage(id)))
			}
		}
	default:
		p.notify(m)
	}
}

// notify sends a notification of the server. One for a subscription that this client does not have
// is left out.
func (p *server) notify(m *recording.Message) {
	if m.Trunc || m.Msg == nil {
		return
	}
	if id := recording.Subscription(m.Params); id != nil && p.listen[string(id)] == "" {
		return
	}
	p.conn.Notify(m.Method, p.subscribed(m.Params))
}

// subscribed returns an object in which a subscription has the ID of this client.
func (p *server) subscribed(object json.RawMessage) json.RawMessage {
	recorded := recording.Subscription(object)
	now := p.listen[string(recorded)]
	if now == "" || now == string(recorded) {
		return object
	}
	meta := recording.MetaOf(object)
	meta[mcpwire.KeySubscription] = json.RawMessage(now)
	return with(object, "_meta", cli.JSON(meta))
}

// with returns an object with another value for a member.
func with(object json.RawMessage, key string, value json.RawMessage) json.RawMessage {
	var m jsonrpc.Message
	frame := slices.Concat([]byte(`{"jsonrpc":"2.0","method":"x","params":`), object, []byte("}"))
	if jsonrpc.Scan(frame, &m) != nil {
		return object
	}
	at, err := m.Param(key)
	if err != nil || !at.Present() {
		return object
	}
	return slices.Concat(frame[m.Params.Lo:at.Lo], value, frame[at.Hi:m.Params.Hi])
}

// ask sends a recorded request of the server.
func (p *server) ask(c *recording.Call, r *run) {
	m := c.Request
	if m.Trunc || m.Msg == nil {
		return
	}
	p.lastID++
	id := strconv.Itoa(p.lastID)
	p.asks[id] = &ask{c, r}
	p.conn.Request(id, m.Method, m.Params)
}

// answer takes the answer to a request of the server.
func (p *server) answer(e *dialog.Event) {
	a := p.asks[e.ID]
	if a == nil {
		p.report.Stray++
		return
	}
	delete(p.asks, e.ID)
	recorded := a.call.Response
	if recorded != nil && recorded.Msg != nil {
		p.report.answered(a.call, p.rules.Responses(recorded.Result, recorded.Error, e.Result, e.Error))
		if a.run == nil || !a.run.again {
			p.perform(recorded.At)
		}
	}
	if a.run != nil {
		a.run.answered[string(a.call.Request.ID)] = true
		p.advance(a.run)
	}
}

func (p *server) cancel(e *dialog.Event) {
	var params struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	json.Unmarshal(e.Params, &params) // without an ID it is of no call
	r := p.runs[string(params.RequestID)]
	if r == nil {
		return
	}
	r.cancelled = true
	if cancel := r.call.Cancel; cancel != nil {
		p.perform(cancel.At)
	}
	if r.call.Cancel != nil || r.call.Request.Method == recording.Listen {
		p.advance(r)
	}
	delete(p.runs, r.id)
}

// notification takes a notification of the client: the first one like it that has not come yet.
func (p *server) notification(e *dialog.Event) {
	arguments := recording.Arguments(e.Params)
	for _, m := range p.session.Messages {
		if m.FromClient() && m.Kind == trace.Notification && m.Method == e.Method && !p.done[m.At] && recording.Arguments(m.Params) == arguments {
			p.perform(m.At)
			return
		}
	}
}

// end ends the subscriptions of a client that has closed its side.
func (p *server) end() {
	for _, id := range slices.Sorted(maps.Keys(p.runs)) {
		if r := p.runs[id]; r.call.Request.Method == recording.Listen {
			r.cancelled = true
			p.advance(r)
		}
	}
}
