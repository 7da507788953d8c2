package record

import (
	"strconv"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// mostOpen limits the requests of one side that wait for an answer. Answers to more are orphans in
// the trace.
const mostOpen = 1 << 16

// A call is a request that has no answer yet.
type call struct {
	number       uint64
	method, name string
	at           time.Time // when the request came
	token        string    // its progress token; "" is none
	cancelled    bool
}

// A side holds the open requests of the client, or of the server.
type side struct {
	open   map[string]*call // by ID
	tokens map[string]*call // by progress token
}

// add adds a request.
func (s *side) add(m *jsonrpc.Message, c *call) {
	if s.open == nil {
		s.open, s.tokens = map[string]*call{}, map[string]*call{}
	}
	if len(s.open) >= mostOpen {
		return
	}
	id := key(m.Bytes(m.ID))
	if old := s.open[id]; old != nil { // the ID is in use
		s.forget(id, old)
	}
	s.open[id] = c
	if at, err := mcpwire.ProgressToken(m); err == nil && at.Present() {
		c.token = key(m.Bytes(at))
		s.tokens[c.token] = c
	}
}

// answered returns the call that a response ends, or nil.
func (s *side) answered(id []byte) *call {
	k := key(id)
	c := s.open[k]
	if c != nil {
		s.forget(k, c)
	}
	return c
}

func (s *side) forget(id string, c *call) {
	delete(s.open, id)
	if c.token != "" && s.tokens[c.token] == c {
		delete(s.tokens, c.token)
	}
}

// key returns an ID or a progress token such that equal ones have equal keys, however they are
// written: JavaScript's 1.0 is 1.
func key(token []byte) string {
	if len(token) > 0 && token[0] == '"' {
		return `"` + string(jsonrpc.Unquote(token))
	}
	for _, c := range token {
		if c == '.' || c == 'e' || c == 'E' {
			if f, err := strconv.ParseFloat(string(token), 64); err == nil {
				return strconv.FormatFloat(f, 'f', -1, 64)
			}
		}
	}
	return string(token)
}
