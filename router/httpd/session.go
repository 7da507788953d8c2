package httpd

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/httpd/presence"
)

// A session is a router.Session over HTTP, and its peer.Sender. A client of the legacy era has
// one. The requests of the modern era of one caller share one.
type session struct {
	*presence.Session[*session, *call]
	e      *Endpoint
	id     string // of the legacy era: the Mcp-Session-Id
	modern bool
	push   *stream // messages that belong to no request; nil in the modern era

	mu        sync.Mutex
	revision  string // guarded by mu: that initialize has agreed on
	listening bool   // guarded by mu: a GET stream serves push
}

// A call is an open request. It is the Sender of the messages that belong to it.
type call struct {
	routerID string // the ID by which the router knows it
	renamed  bool   // id is another, as programs that share a session may choose the same
	id       []byte // as the client chose it
	method   mcpwire.Method
	header   http.Header
	to       *stream
}

// newSession is presence.Front.New. Sessions of the legacy era have a string as their key.
func (e *Endpoint) newSession(p *presence.Session[*session, *call], key any) *session {
	s := &session{Session: p, e: e}
	var legacy bool
	s.id, legacy = key.(string)
	if s.modern = !legacy; legacy {
		s.push = e.newStream(0, s.Account)
		s.push.dropsNew = true
	}
	client := s.Caller.Client
	client.Sole, client.Many, client.Recorded = false, s.modern, p.Recorded()
	if legacy && e.o.Keeper != nil {
		client.Session = labelOf(s.id)
	}
	s.Router = e.r.NewSession(s, client)
	return s
}

// labelOf returns the name of a session in the audit log. It is the same wherever the session is
// made again, and the one in the access log.
func labelOf(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:6])
}

// open opens a request.
func (s *session) open(x *exchange, m *jsonrpc.Message, method mcpwire.Method, to *stream) (*call, error) {
	if err := mcpwire.CheckID(m); err != nil {
		return nil, err
	}
	id := string(m.Bytes(m.ID))
	return s.Open(id, x.body, func(routerID string) *call {
		return &call{routerID: routerID, renamed: routerID != id, id: []byte(id), method: method, header: x.r.Header, to: to}
	})
}

// handleBatch passes a batch to the router.
func (s *session) handleBatch(frame []byte) {
	var m jsonrpc.Message
	var out peer.Outgoing
	s.Router.Bad(&m, jsonrpc.Scan(frame, &m), &out) // to Scan a batch is an error
	out.Flush()
}

// negotiated returns the revision that initialize has agreed on; "" before that.
func (s *session) negotiated() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}

// setListening notes that a GET stream serves push, or no longer does. It fails if that was so
// already.
func (s *session) setListening(on bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := s.listening != on
	s.listening = on
	if s.Ended() {
		s.push.abandon()
	}
	return changed
}

// A record is what another process needs to make a session again.
type record struct {
	Revision string          `json:"revision,omitempty"` // that initialize has agreed on
	Session  json.RawMessage `json:"session"`            // of the router
}

// Disconnect begins to end the session: its requests end without answers.
func (s *session) Disconnect() { go s.End(nil) }

// record is presence.Front.Record.
func (s *session) record() []byte {
	text, _ := json.Marshal(record{s.negotiated(), s.Router.Record()})
	return text
}

// restore is presence.Front.Restore.
func (s *session) restore(text []byte) {
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return
	}
	s.mu.Lock()
	s.revision = r.Revision
	s.mu.Unlock()
	s.Router.Restore(r.Session)
}

// staysOpen is presence.Front.StaysOpen.
func (c *call) staysOpen() bool { return c.method == mcpwire.Listen }

// cutOff is the error of a request that was under way when its session ended here. Its status is
// not that of a request that was refused, which balancers may repeat.
const cutOff = "the replica of toolman that had this request has ended, or has lost the session; the request may have been carried out: check before you repeat it"

// ended is presence.Front.Ended: it ends the streams of the session.
func (s *session) ended(open []*call, why error) {
	for _, c := range open {
		switch {
		case why == nil:
			c.to.end()
		case why != presence.ErrMoved:
			c.to.answer(jsonrpc.AppendError(nil, c.id, codeInvalidRequest, why.Error(), nil), 1, http.StatusUnauthorized)
		case c.method == mcpwire.Listen:
			c.to.answer(mcpwire.AppendListenEnd(nil, c.id), 1, http.StatusOK) // the client opens it again
		default:
			c.to.answer(jsonrpc.AppendError(nil, c.id, codeInternal, cutOff, nil), 1, http.StatusOK)
		}
	}
	if s.push == nil {
		return
	}
	s.push.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.listening {
		s.push.abandon()
	}
}

// endStreams ends the GET stream and subscriptions. Those end with a result (2026-07-28,
// Subscriptions).
func (s *session) endStreams() {
	if s.push != nil {
		s.push.end()
	}
	for _, c := range s.Requests() {
		if c.method == mcpwire.Listen {
			s.Cancel(c.routerID, c)
			c.to.answer(mcpwire.AppendListenEnd(nil, c.id), 1, http.StatusOK)
		}
	}
}

// Queue implements peer.Sender.
func (s *session) Queue(frame []byte, edits []jsonrpc.Edit) error {
	var m jsonrpc.Message
	err := jsonrpc.Scan(frame, &m)
	if err == nil {
		return s.QueueMessage(&m, edits)
	}
	frame = jsonrpc.AppendSplice(nil, frame, edits...)
	if !m.HasID() || m.Method.Present() {
		return s.answerBatch(frame)
	}
	// The answer nests too deep since toolman added levels to it.
	jsonrpc.Scan(frame, &m) // finds the ID again
	frame = jsonrpc.AppendError(nil, m.Bytes(m.ID), codeInternal, "the answer cannot be passed on: "+err.Error(), nil)
	if err := jsonrpc.Scan(frame, &m); err != nil {
		return err
	}
	return s.answer(&m, nil)
}

// QueueMessage implements peer.Reader: answers go to their request, and messages that belong to
// no request to the client's GET stream or subscription.
func (s *session) QueueMessage(m *jsonrpc.Message, edits []jsonrpc.Edit) error {
	if m.Kind == jsonrpc.Response {
		return s.answer(m, edits)
	}
	frame := jsonrpc.AppendSplice(nil, m.Frame, edits...)
	if !s.modern {
		return s.push.put(frame)
	}
	var whole jsonrpc.Message
	if jsonrpc.Scan(frame, &whole) != nil {
		return nil
	}
	at, err := mcpwire.SubscriptionOf(&whole)
	if err != nil || !at.Present() {
		return nil // the modern era has no place for it
	}
	c := s.Find(whole.Bytes(at.Value))
	if c == nil {
		return nil
	}
	if c.renamed {
		frame = jsonrpc.AppendSplice(nil, frame, jsonrpc.Edit{Span: at.Value, New: c.id})
	}
	return c.to.put(frame)
}

// Flush implements peer.Sender. Streams are written as soon as possible.
func (s *session) Flush() {}

// During implements client.Streams.
func (s *session) During(id []byte) peer.Sender {
	if c := s.Find(id); c != nil && c.to.isOpen() {
		return c
	}
	return nil
}

// answer passes an answer to its request, under the ID that the client chose.
func (s *session) answer(m *jsonrpc.Message, edits []jsonrpc.Edit) error {
	id := jsonrpc.Edit{Span: m.ID, New: m.Bytes(m.ID)}
	i := slices.IndexFunc(edits, func(e jsonrpc.Edit) bool { return e.Span == m.ID })
	if i >= 0 {
		id = edits[i]
	}
	c := s.Close(id.New)
	if c == nil {
		return nil // the client has disconnected or cancelled it
	}
	if c.renamed {
		if id.New, edits = c.id, slices.Clone(edits); i >= 0 {
			edits[i] = id
		} else {
			edits = append(edits, id)
		}
	}
	status := http.StatusOK
	switch {
	case s.modern && m.Err.Present():
		status = statusOf(m)
	case c.method == mcpwire.Initialize && m.Result.Present():
		if at, err := m.Get(m.Result, "protocolVersion"); err == nil {
			s.mu.Lock()
			s.revision = string(m.Text(at))
			s.mu.Unlock()
		}
	}
	frame := s.e.bodies.Get(len(m.Frame) + len(c.id) + 64)
	return c.to.answer(jsonrpc.AppendSplice(frame, m.Frame, edits...), 1, status)
}

// statusOf returns the HTTP status of an error response (2026-07-28, Streamable HTTP).
func statusOf(m *jsonrpc.Message) int {
	at, err := m.Get(m.Err, "code")
	if err != nil {
		return http.StatusOK
	}
	switch code, _ := strconv.Atoi(string(m.Bytes(at))); code {
	case jsonrpc.CodeMethodNotFound:
		return http.StatusNotFound
	case jsonrpc.CodeParseError, jsonrpc.CodeInvalidRequest,
		mcpwire.CodeHeaderMismatch, mcpwire.CodeMissingCapability, mcpwire.CodeUnsupportedVersion:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// answerBatch passes on the answers to a batch, in one array.
func (s *session) answerBatch(array []byte) error {
	var m jsonrpc.Message
	var to *stream
	n := 0
	for at := range jsonrpc.Elements(array, jsonrpc.Span{Hi: len(array)}) {
		if jsonrpc.Scan(array[at.Lo:at.Hi], &m) != nil {
			continue
		}
		if c := s.Close(m.Bytes(m.ID)); c != nil {
			to = c.to
			n++
		}
	}
	if to == nil {
		return nil
	}
	return to.answer(array, n, http.StatusOK)
}

// CheckCall implements client.CallChecker: headers of the modern era have to agree with the
// arguments of a tool.
func (s *session) CheckCall(m *jsonrpc.Message, tool *catalog.Entry) *mcpwire.Refusal {
	if c := s.Find(m.Bytes(m.ID)); c != nil && s.modern {
		return paramMismatch(c.header, m, tool.InputSchema())
	}
	return nil
}

// Queue implements peer.Sender for messages that belong to the request.
func (c *call) Queue(frame []byte, edits []jsonrpc.Edit) error {
	return c.to.put(jsonrpc.AppendSplice(nil, frame, edits...))
}

// Flush implements peer.Sender.
func (c *call) Flush() {}

var (
	_ client.Streams     = (*session)(nil)
	_ client.CallChecker = (*session)(nil)
)
