package router

import (
	"encoding/json"
	"errors"

	"toolman/router/metatool"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/catalog"
	"toolman/router/tracing"
)

func eraOf(modern bool) mcpwire.Era {
	if modern {
		return mcpwire.Modern
	}
	return mcpwire.Legacy
}

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

// connected keeps a name of the client for the log and the trace, and logs that it is there. What it
// calls itself may be long.
func (s *Session) connected(hello *mcpwire.Hello, revision string) {
	name := sanitize.Line(sanitize.First(hello.Name, catalog.NameLimit))
	if name != "" {
		s.peer.name.Store(&name)
	}
	s.log.Info("client connected", zap.String("session", name+" "+sanitize.Line(sanitize.First(hello.NameVersion, catalog.NameLimit))), zap.String("revision", revision))
}

// decline answers a request with an error that the specification prescribes, also
// where a tool result is usual.
func (s *Session) decline(req *request, why *mcpwire.Refusal) {
	s.tellObserver(req.Bytes(req.ID), reasonFor("", why.Message))
	s.declined(req, why)
}

// declined is decline for what the ledger knows already.
func (s *Session) declined(req *request, why *mcpwire.Refusal) {
	n := s.traceArrivalLocked(req, jsonrpc.Span{})
	s.decideAgainstLocked(req, &refusal{}, n)
	s.send(req.out, why.Append(nil, req.Bytes(req.ID)), tracing.Note{ID: n, Method: req.method, Verdict: "local"})
}

// declineError is decline for an error of package mcpwire.
func (s *Session) declineError(req *request, err error) {
	if why, ok := errors.AsType[*mcpwire.Refusal](err); ok {
		s.decline(req, why)
		return
	}
	s.refuse(req, refusal{code: jsonrpc.CodeInvalidParams, text: err.Error()})
}

// completed returns a result of toolman's own as the modern era wants it.
func completed(result []byte, method mcpwire.Method) []byte {
	out := mcpwire.AppendComplete([]byte{'{'}, method)
	if string(result) == "{}" {
		return append(out[:len(out)-1], '}')
	}
	return append(out, result[1:]...)
}

// inSession reports whether the client has initialized: without that it wants no
// notifications but those it asks for.
func (s *Session) inSession() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peer.hello != nil
}
