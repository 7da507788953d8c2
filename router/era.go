package router

import (
	"encoding/json"

	"toolman/router/metatool"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/tracing"
)

// modernLocked answers a request of the modern era.
func (s *Session) modernLocked(req *request) {
	switch {
	case req.method == mcpwire.Discover:
		n := s.traceArrivalLocked(req, jsonrpc.Span{})
		result := mcpwire.AppendDiscoverResult(nil, s.r.Version, metatool.Instructions(s.modeOf(req.modern), s.builtin.offers))
		s.send(req.out, jsonrpc.AppendResult(nil, req.Bytes(req.ID), result), tracing.Note{ID: n, Method: req.method, Status: "local"})
	case !mcpwire.KnownModern(req.method):
		s.decline(req, &mcpwire.Refusal{Code: jsonrpc.CodeMethodNotFound,
			Message: "revision " + mcpwire.Newest + " has no method " + sanitize.Short(string(req.method))})
	default:
		hello := s.noteFirstModernLocked(req)
		if hello != nil && !s.who.Sole && s.r.startup.opened.Load() {
			s.startDedicatedLocked()
		}
		s.whenOpenLocked(req)
		if hello != nil && s.who.Sole {
			s.r.greet(*hello)
		}
	}
}

// outOfSession answers a legacy request before there was a handshake.
func (s *Session) outOfSession(req *request) {
	s.decline(req, &mcpwire.Refusal{Code: jsonrpc.CodeInvalidParams,
		Message: "begin with initialize, or say with each request in params._meta which revision it is of, as " + mcpwire.KeyVersion + " (" + mcpwire.Newest + ")"})
}

// noteFirstModernLocked notes what the first modern request says of its client, and returns what
// the servers may now be told of it.
func (s *Session) noteFirstModernLocked(req *request) *mcpwire.Hello {
	if s.peer.modern {
		return nil
	}
	s.peer.modern = true
	hello := mcpwire.Hello{Version: mcpwire.Newest, Capabilities: declaredForModern}
	if at := req.envelope.ClientInfo.Value; req.IsObject(at) {
		hello.Info = json.RawMessage(append([]byte(nil), req.Bytes(at)...))
		var info struct{ Name, Version string }
		if json.Unmarshal(hello.Info, &info) == nil {
			hello.Name, hello.NameVersion = info.Name, info.Version
		}
	}
	s.connected(&hello, mcpwire.Newest)
	return &hello
}

// declaredForModern is what legacy servers are told that a modern client can do:
// that differs from request to request, and their handshake comes before them.
var declaredForModern = json.RawMessage(`{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`)
