package record

import (
	"bytes"
	"errors"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
	"toolman/router/tracing"
)

// UnknownClient is the name of a client that has not said its name.
const UnknownClient = "client"

// A Conn is one client's connection to the server: the names of both, and their open requests. Only
// the Recorder's goroutine uses what is in it.
type Conn struct {
	r      *Recorder
	client string
	in     side // requests of the client
	out    side // requests of the server
}

// NewConn returns a Conn without any request.
func (r *Recorder) NewConn() *Conn { return &Conn{r: r, client: UnknownClient} }

// requester returns the requests of the side that sends in a direction.
func (c *Conn) requester(dir trace.Dir) *side {
	if dir == trace.In {
		return &c.in
	}
	return &c.out
}

// answerer returns the requests of the side that receives in a direction.
func (c *Conn) answerer(dir trace.Dir) *side {
	if dir == trace.In {
		return &c.out
	}
	return &c.in
}

// message traces a message, a batch of messages, or what should be one.
func (c *Conn) message(dir trace.Dir, at time.Time, l *line) {
	text := bytes.Trim(l.head, " \t\r\n")
	switch {
	case !l.whole():
		c.long(dir, at, l)
	case len(text) == 0: // a line that says nothing
	case text[0] == '[' && jsonrpc.Valid(text):
		for at2 := range jsonrpc.Elements(text, jsonrpc.Span{Lo: 0, Hi: len(text)}) {
			c.single(dir, at, text[at2.Lo:at2.Hi])
		}
	default:
		c.single(dir, at, text)
	}
}

// single traces one message, or what should be one.
func (c *Conn) single(dir trace.Dir, at time.Time, text []byte) {
	f := trace.Frame{Leg: trace.Client, Dir: dir, Msg: text, At: at}
	var m jsonrpc.Message
	err := jsonrpc.Scan(text, &m)
	if m.ID.Present() {
		f.ID = m.Bytes(m.ID)
	}
	if _, noJSON := errors.AsType[*jsonrpc.SyntaxError](err); noJSON && dir == trace.Out {
		c.r.text(trace.EventJunk, at, text, false)
		return
	}
	switch {
	case err != nil:
		f.Kind, f.Rule = trace.Invalid, err.Error()
	case m.Kind == jsonrpc.Request:
		c.request(&f, &m)
	case m.Kind == jsonrpc.Response:
		c.response(&f, &m)
	default:
		c.notification(&f, &m)
	}
	f.Peer = c.client
	c.r.w.Frame(&f)
}

func (c *Conn) request(f *trace.Frame, m *jsonrpc.Message) {
	method := mcpwire.MethodOf(m.Text(m.Method))
	f.Kind, f.Method = trace.Request, string(m.Text(m.Method))
	if at, _, err := mcpwire.Target(m, method); err == nil && at.Present() {
		f.Name = string(m.Text(at))
	}
	if f.Dir == trace.In && (c.client == UnknownClient || method == mcpwire.Initialize) {
		c.introduce(m, method)
	}
	c.r.calls++
	f.Call = c.r.calls
	c.requester(f.Dir).add(m, &call{number: f.Call, method: f.Method, name: f.Name, at: f.At})
}

// introduce takes the name of the client from its message, if it is there.
func (c *Conn) introduce(m *jsonrpc.Message, method mcpwire.Method) {
	if name := ClientName(m, method); name != "" {
		c.client = name
	}
}

// ClientName returns the name that the client gives itself in a request, or "".
func ClientName(m *jsonrpc.Message, method mcpwire.Method) string {
	if method == mcpwire.Initialize {
		hello, err := mcpwire.ParseHello(m)
		if err != nil {
			return ""
		}
		return hello.Name
	}
	var e mcpwire.Envelope
	if e.Read(m) != nil || !e.ClientInfo.Present() {
		return ""
	}
	if at, err := m.Get(e.ClientInfo.Value, "name"); err == nil && m.IsString(at) {
		return string(m.Text(at))
	}
	return ""
}

func (c *Conn) response(f *trace.Frame, m *jsonrpc.Message) {
	f.Kind = trace.Response
	f.Status, f.Code = tracing.Outcome(m)
	c.match(f)
}

// match finds the request of a response.
func (c *Conn) match(f *trace.Frame) {
	asked := c.answerer(f.Dir).answered(f.ID)
	if asked == nil {
		f.Status, f.Code = trace.StatusOrphan, 0
		return
	}
	f.Call, f.Method, f.Name, f.TotalTime = asked.number, asked.method, asked.name, f.At.Sub(asked.at)
	if asked.cancelled {
		f.Status, f.Code = trace.StatusLate, 0
	}
}

func (c *Conn) notification(f *trace.Frame, m *jsonrpc.Message) {
	f.Kind, f.Method = trace.Notification, string(m.Text(m.Method))
	var of *call
	switch mcpwire.MethodOf(m.Text(m.Method)) {
	case mcpwire.Cancelled:
		if at, err := mcpwire.IDParam(m, "requestId"); err == nil && at.Present() {
			if of = c.requester(f.Dir).open[key(m.Bytes(at))]; of != nil {
				of.cancelled = true
			}
		}
	case mcpwire.Progress:
		if at, err := mcpwire.IDParam(m, "progressToken"); err == nil && at.Present() {
			of = c.answerer(f.Dir).tokens[key(m.Bytes(at))]
		}
	default:
		if at, err := mcpwire.SubscriptionOf(m); err == nil && at.Present() {
			of = c.answerer(f.Dir).open[key(m.Bytes(at.Value))]
		}
	}
	if of != nil {
		f.Call = of.number
	}
}

// long traces a message of which only the ends were kept.
func (c *Conn) long(dir trace.Dir, at time.Time, l *line) {
	f := trace.Frame{Leg: trace.Client, Peer: c.client, Dir: dir, Msg: l.head, Size: l.size, At: at}
	if text := bytes.TrimLeft(l.head, " \t\r\n"); len(text) == 0 || text[0] != '{' {
		if dir == trace.Out {
			c.r.text(trace.EventJunk, at, l.head, true)
			return
		}
		f.Kind = trace.Invalid
		c.r.w.Frame(&f)
		return
	}
	ends := jsonrpc.TooLongError{Head: l.head[:min(len(l.head), 4<<10)], Tail: l.tail}
	f.ID, f.Method = ends.Peek()
	if f.ID == nil {
		f.ID = lastID(l.tail)
	}
	switch {
	case f.Method == "" && f.ID != nil:
		f.Kind, f.Status = trace.Response, trace.StatusOK
		c.match(&f)
	case f.Method == "":
		f.Kind = trace.Invalid
	case f.ID == nil:
		f.Kind = trace.Notification
	default:
		f.Kind = trace.Request
		c.r.calls++
		f.Call = c.r.calls
		var m jsonrpc.Message
		m.Build(f.ID, f.Method)
		c.requester(dir).add(&m, &call{number: f.Call, method: f.Method, at: at})
	}
	c.r.w.Frame(&f)
}

// lastID returns the ID that is near the end of a message, or nil. The official SDKs write it last,
// or last but the version.
func lastID(tail []byte) []byte {
	const name = `"id"`
	i := bytes.LastIndex(tail, []byte(name))
	if i < 0 {
		return nil
	}
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(tail[i+len(name):], " \t"), []byte(":"))
	rest = bytes.TrimLeft(rest, " \t")
	end := bytes.IndexAny(rest, ",} \t\r\n")
	if !ok || end <= 0 {
		return nil
	}
	if id := rest[:end]; jsonrpc.Valid(id) && (id[0] == '"' || id[0] == '-' || '0' <= id[0] && id[0] <= '9') {
		return id
	}
	return nil
}
