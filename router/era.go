package router

import (
	"encoding/json"

	"toolman/router/client"
	"toolman/router/metatool"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/tracing"
)

// modernLocked answers a request of the modern era.
func (s *Session) modernLocked(req *client.Request) {
	switch {
	case req.Method == mcpwire.Discover:
		n := s.TraceArrival(req, jsonrpc.Span{})
		result := mcpwire.AppendDiscoverResult(nil, s.env.Version, metatool.Instructions(s.modeOf(req.Modern), s.builtin.offers))
		s.Send(req.Out, jsonrpc.AppendResult(nil, req.Bytes(req.ID), result), tracing.Note{ID: n, Method: req.Method, Status: "local"})
	case !mcpwire.KnownModern(req.Method):
		s.Decline(req, &mcpwire.Refusal{Code: jsonrpc.CodeMethodNotFound,
			Message: "revision " + mcpwire.Newest + " has no method " + sanitize.Short(string(req.Method))})
	default:
		hello := s.noteFirstModernLocked(req)
		if hello != nil && !s.Who.Sole && s.env.Host.Opened() {
			s.servers.StartDedicated()
		}
		s.whenOpenLocked(req)
		if hello != nil && s.Who.Sole {
			s.env.Host.Greet(*hello)
		}
	}
}

// outOfSession answers a legacy request before there was a handshake.
func (s *Session) outOfSession(req *client.Request) {
	s.Decline(req, &mcpwire.Refusal{Code: jsonrpc.CodeInvalidParams,
		Message: "begin with initialize, or say with each request in params._meta which revision it is of, as " + mcpwire.KeyVersion + " (" + mcpwire.Newest + ")"})
}

// noteFirstModernLocked notes what the first modern request says of its client, and returns what
// the servers may now be told of it.
func (s *Session) noteFirstModernLocked(req *client.Request) *mcpwire.Hello {
	if s.Peer.Modern {
		return nil
	}
	s.Peer.Modern = true
	hello := mcpwire.Hello{Version: mcpwire.Newest, Capabilities: client.DeclaredForModern}
	if at := req.Envelope.ClientInfo.Value; req.IsObject(at) {
		hello.Info = json.RawMessage(append([]byte(nil), req.Bytes(at)...))
		var info struct{ Name, Version string }
		if json.Unmarshal(hello.Info, &info) == nil {
			hello.Name, hello.NameVersion = info.Name, info.Version
		}
	}
	s.Connected(&hello, mcpwire.Newest)
	return &hello
}
