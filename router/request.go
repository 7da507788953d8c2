package router

import (
	"bytes"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/audit"
)

// A request is a request of the client while a session handles it. It is valid until the session has
// handled it: a request that has to wait is kept as its frame (see parked) and read again.
type request struct {
	*jsonrpc.Message
	route                    // of a request that names something
	tool      *FoundTool     // of a call, if it has been found already; nil otherwise
	out       *peer.Outgoing // takes what is sent because of it
	method    mcpwire.Method
	envelope  mcpwire.Envelope
	modern    bool            // it is of the modern era
	arrivedAt int64           // on the router's clock, if calls are timed
	traceID   uint64          // its correlation number in the trace; 0: it is not traced yet
	decision  *audit.Decision // nil: nothing was decided about it yet
}

// readEnvelope reads the metadata of the request, which tells its era.
func (req *request) readEnvelope() error {
	err := req.envelope.Read(req.Message)
	req.modern = req.envelope.Claims()
	return err
}

// era is the era of the request.
func (req *request) era() mcpwire.Era { return eraOf(req.modern) }

// readRequest reads a request from its frame.
func readRequest(frame []byte, out *peer.Outgoing) (*request, error) {
	m := new(jsonrpc.Message)
	if err := jsonrpc.Scan(frame, m); err != nil {
		return nil, err
	}
	req := &request{Message: m, out: out, method: mcpwire.MethodOf(m.Text(m.Method))}
	return req, req.readEnvelope()
}

// rewritten returns the request with another frame. It arrived when req did, and what was decided
// about req was decided about it.
func (req *request) rewritten(frame []byte) (*request, error) {
	to, err := readRequest(frame, req.out)
	if err != nil {
		return nil, err
	}
	to.arrivedAt, to.traceID, to.decision = req.arrivedAt, req.traceID, req.decision
	return to, nil
}

// A parked request waits for the upstreams to start.
type parked struct {
	frame []byte
	came  int64  // when it came, if calls are timed
	n     uint64 // its correlation number in the trace
}

func (p parked) size() int { return len(p.frame) }

// keepLocked returns a request as one that waits.
func (s *conn) keepLocked(req *request) parked {
	name, _, _ := mcpwire.Target(req.Message, req.method)
	return parked{bytes.Clone(req.Frame), req.arrivedAt, s.traceArrivalLocked(req, name)}
}

// request reads the request again. It was read when it came, so it can be.
func (p *parked) request(out *peer.Outgoing) *request {
	req, _ := readRequest(p.frame, out)
	req.arrivedAt, req.traceID = p.came, p.n
	return req
}

// is reports whether a request has this ID.
func (p *parked) is(id []byte) bool {
	var m jsonrpc.Message
	return jsonrpc.Scan(p.frame, &m) == nil && bytes.Equal(m.Bytes(m.ID), id)
}
