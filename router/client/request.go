package client

import (
	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/upstream"
	"toolman/router/view"
)

// A Request is a request of the client while a session handles it. It is valid until the session
// has handled it. A request that has to wait is stored as a Deferred.
type Request struct {
	*jsonrpc.Message
	Route                    // of a request with a target
	Out       *peer.Outgoing // takes messages that are sent while it is handled
	Method    mcpwire.Method
	Envelope  mcpwire.Envelope
	Modern    bool            // it is of the modern era
	ByModel   bool            // it is certainly a model's, and not one of a page
	ArrivedAt int64           // on the router's clock; 0 if calls are not timed
	TraceID   uint64          // correlation number in the trace; 0: not traced yet
	Tool      *FoundTool      // result of an earlier lookup; nil: none
	Decision  *audit.Decision // nil: its audit line has not begun
}

// ReadEnvelope reads the metadata of the request, from which it finds the era.
func (req *Request) ReadEnvelope() error {
	err := req.Envelope.Read(req.Message)
	req.Modern = req.Envelope.Claims()
	return err
}

// Era returns the era of the request.
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

// Rewritten returns a copy of the request with another frame. It keeps the time of arrival, the
// correlation number and the audit line.
func (req *Request) Rewritten(frame []byte) (*Request, error) {
	to, err := ReadRequest(frame, req.Out)
	if err != nil {
		return nil, err
	}
	to.ArrivedAt, to.TraceID, to.Decision = req.ArrivedAt, req.TraceID, req.Decision
	return to, nil
}

// A FoundTool is the result of looking up a tool by its name.
type FoundTool struct {
	*catalog.Entry
	Verdict catalog.Verdict
	View    *view.View // the view that was searched
}

// A Route is the target of a request.
type Route struct {
	At       jsonrpc.Span // of the name or URI
	Name     []byte
	ItemKind mcpwire.Kind
	View     *view.View
	Target   catalog.Target
	Verdict  catalog.Verdict
	Upstream *upstream.Upstream // of the target; nil: there is none
}

// Find looks the name up in the view. It uses known, which may be nil, if that is from the same
// view.
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
