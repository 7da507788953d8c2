package client

import (
	"bytes"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/upstream"
	"toolman/router/view"
)

// A Request is a request of the client while a session handles it. It is valid until the session has
// handled it: a request that has to wait is kept as its frame (see parked) and read again.
type Request struct {
	*jsonrpc.Message
	Route                    // of a request that names something
	Out       *peer.Outgoing // takes what is sent because of it
	Method    mcpwire.Method
	Envelope  mcpwire.Envelope
	Modern    bool            // it is of the modern era
	ArrivedAt int64           // on the router's clock, if calls are timed
	TraceID   uint64          // its correlation number in the trace; 0: it is not traced yet
	Tool      *FoundTool      // of a call, if it has been found already; nil otherwise
	Decision  *audit.Decision // nil: nothing was decided about it yet
}

// ReadEnvelope reads the metadata of the request, which tells its era.
func (req *Request) ReadEnvelope() error {
	err := req.Envelope.Read(req.Message)
	req.Modern = req.Envelope.Claims()
	return err
}

// Era is the era of the request.
func (req *Request) Era() mcpwire.Era { return EraOf(req.Modern) }

// ReadRequest reads a request from its frame.
func ReadRequest(frame []byte, out *peer.Outgoing) (*Request, error) {
	m := new(jsonrpc.Message)
	if err := jsonrpc.Scan(frame, m); err != nil {
		return nil, err
	}
	req := &Request{Message: m, Out: out, Method: mcpwire.MethodOf(m.Text(m.Method))}
	return req, req.ReadEnvelope()
}

// Rewritten returns the request with another frame. It arrived when req did, and what was decided
// about req was decided about it.
func (req *Request) Rewritten(frame []byte) (*Request, error) {
	to, err := ReadRequest(frame, req.Out)
	if err != nil {
		return nil, err
	}
	to.ArrivedAt, to.TraceID, to.Decision = req.ArrivedAt, req.TraceID, req.Decision
	return to, nil
}

// A Deferred request waits for the upstreams to start.
type Deferred struct {
	frame   []byte
	came    int64  // when it came, if calls are timed
	TraceID uint64 // its correlation number in the trace
}

func (p Deferred) Size() int { return len(p.frame) }

// Defer returns a request as one that waits.
func (s *Conn) Defer(req *Request) Deferred {
	name, _, _ := mcpwire.Target(req.Message, req.Method)
	return Deferred{bytes.Clone(req.Frame), req.ArrivedAt, s.TraceArrival(req, name)}
}

// Request reads the request again. It was read when it came, so it can be.
func (p *Deferred) Request(out *peer.Outgoing) *Request {
	req, _ := ReadRequest(p.frame, out)
	req.ArrivedAt, req.TraceID = p.came, p.TraceID
	return req
}

// Is reports whether a request has this ID.
func (p *Deferred) Is(id []byte) bool {
	var m jsonrpc.Message
	return jsonrpc.Scan(p.frame, &m) == nil && bytes.Equal(m.Bytes(m.ID), id)
}

// A FoundTool is a tool that was found by its name, and what the client may do with it.
type FoundTool struct {
	*catalog.Entry
	Verdict catalog.Verdict
	View    *view.View // in which it was found
}

// A Route is what a request is about, and where that leads.
type Route struct {
	At       jsonrpc.Span // of the name or URI
	Name     []byte
	ItemKind mcpwire.Kind
	View     *view.View
	Target   catalog.Target
	Verdict  catalog.Verdict
	Upstream *upstream.Upstream // of the target; nil: nothing has the name
}

// Find looks the name up, unless the tool is known already.
func (r *Route) Find(known *FoundTool) {
	if known != nil && known.View == r.View {
		r.Target, r.Verdict = catalog.TargetOf(known.Entry), known.Verdict
		return
	}
	if r.ItemKind.IsURI() {
		r.Target, r.Verdict = r.View.FindURI(r.Name)
	} else {
		r.Target, r.Verdict = r.View.Find(r.ItemKind, r.Name)
	}
}
