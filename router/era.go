package router

import (
	"encoding/json"
	"errors"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// considerLocked finds out of which era a request is: each says so itself, so that
// one client may use both (2026-07-28, Versioning: a server "MAY serve both eras").
func (s *Session) considerLocked(m *jsonrpc.Message) error {
	err := s.envelope.Read(m)
	s.modern = s.envelope.Claims()
	return err
}

// era is that of the request being handled.
func (s *Session) era() mcpwire.Era { return eraOf(s.modern) }

func eraOf(modern bool) mcpwire.Era {
	if modern {
		return mcpwire.Modern
	}
	return mcpwire.Legacy
}

// modernLocked answers a request of the modern era.
func (s *Session) modernLocked(m *jsonrpc.Message, b *jsonrpc.Batch, method mcpwire.Method) {
	switch {
	case method == mcpwire.Discover:
		n := s.arrivedLocked(m, method, jsonrpc.Span{})
		result := mcpwire.AppendDiscoverResult(nil, s.r.Version, s.instructionsLocked())
		s.send(b, jsonrpc.AppendResult(nil, m.Bytes(m.ID), result), note{n: n, method: method, status: "local"})
	case !mcpwire.KnownModern(method):
		s.decline(m, b, method, &mcpwire.Refusal{Code: jsonrpc.CodeMethodNotFound,
			Message: "revision " + mcpwire.Newest + " has no method " + shown(string(method))})
	default:
		hello := s.meetLocked(m)
		if hello != nil && !s.who.Sole && s.r.opened.Load() {
			s.takeOwnLocked()
		}
		s.whenOpenLocked(m, b, method)
		if hello != nil && s.who.Sole {
			s.r.greet(*hello)
		}
	}
}

// outOfSession answers a legacy request before there was a handshake.
func (s *Session) outOfSession(m *jsonrpc.Message, b *jsonrpc.Batch, method mcpwire.Method) {
	s.decline(m, b, method, &mcpwire.Refusal{Code: jsonrpc.CodeInvalidParams,
		Message: "begin with initialize, or say with each request in params._meta which revision it is of, as " + mcpwire.KeyVersion + " (" + mcpwire.Newest + ")"})
}

// meetLocked notes what the first modern request says of its client, and returns what
// the servers may now be told of it.
func (s *Session) meetLocked(m *jsonrpc.Message) *mcpwire.Hello {
	if s.met {
		return nil
	}
	s.met = true
	hello := mcpwire.Hello{Version: mcpwire.Newest, Capabilities: declaredForModern}
	if at := s.envelope.ClientInfo.Value; m.IsObject(at) {
		hello.Info = json.RawMessage(append([]byte(nil), m.Bytes(at)...))
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
	name := clean(cut(hello.Name, nameLimit))
	if name != "" {
		s.calledName.Store(&name)
	}
	s.log.Info("client connected", zap.String("session", name+" "+clean(cut(hello.NameVersion, nameLimit))), zap.String("revision", revision))
}

// decline answers a request with an error that the specification prescribes, also
// where a tool result is usual.
func (s *Session) decline(m *jsonrpc.Message, b *jsonrpc.Batch, method mcpwire.Method, why *mcpwire.Refusal) {
	s.because(m.Bytes(m.ID), refusedAs("", why.Message))
	s.declined(m, b, method, why)
}

// declined is decline for what the ledger knows already.
func (s *Session) declined(m *jsonrpc.Message, b *jsonrpc.Batch, method mcpwire.Method, why *mcpwire.Refusal) {
	n := s.arrivedLocked(m, method, jsonrpc.Span{})
	s.decideAgainstLocked(m, method, &refusal{}, n)
	s.send(b, why.Append(nil, m.Bytes(m.ID)), note{n: n, method: method, verdict: "local"})
}

// declineError is decline for an error of package mcpwire.
func (s *Session) declineError(m *jsonrpc.Message, b *jsonrpc.Batch, method mcpwire.Method, err error) {
	if why, ok := errors.AsType[*mcpwire.Refusal](err); ok {
		s.decline(m, b, method, why)
		return
	}
	s.refuse(m, b, method, refusal{code: jsonrpc.CodeInvalidParams, text: err.Error()})
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
	return s.hello != nil
}
