package router

import (
	"errors"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/metatool"
	"toolman/router/view"
)

// initializeLocked answers the client at once. The upstreams are started by now,
// and learn who the client is and what it can do.
func (s *Session) initializeLocked(req *client.Request) {
	if s.Peer.Hello != nil && s.Peer.Hello.Version != "" {
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidRequest, Text: "initialize was answered already; start a new connection to begin again"})
		return
	}
	hello, err := mcpwire.ParseHello(req.Message)
	if err == nil && hello.Version == "" {
		err = errors.New("initialize needs params.protocolVersion")
	}
	if err != nil {
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidParams, Text: err.Error()})
		return
	}
	if err := s.Retain(len(hello.Capabilities) + len(hello.Info)); err != nil {
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInternalError, Verdict: string(audit.Busy), Text: err.Error()})
		return
	}
	s.Peer.Hello = &hello
	s.Peer.Meta = hello.Claim(s.logLevel.name)
	version := mcpwire.Negotiate(hello.Version)
	s.Connected(&hello, version)
	s.Peer.Revision = version
	s.Reply(req, mcpwire.AppendInitializeResult(nil, version, s.env.Version, metatool.Instructions(s.modeOf(req.Modern), s.builtin.offers)))
	if s.Who.Sole {
		s.env.Host.Greet(hello)
	} else if s.env.Host.Opened() {
		s.servers.StartDedicated()
	}
}

// catalogLocked answers requests about toolman's own resource.
func (s *Session) catalogLocked(req *client.Request) {
	result := []byte("{}")
	switch req.Method {
	case mcpwire.ResourcesRead:
		result = append([]byte(nil), `{"contents":[{"uri":"`+catalog.CatalogURI+`","mimeType":"text/plain","text":"`...)
		result = append(view.AppendCatalog(result, s.View.Load(), 0), `"}]}`...)
	case mcpwire.Subscribe:
		if err := s.subscriptions.Catalog(true); err != nil {
			s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidParams, Text: err.Error()})
			return
		}
	case mcpwire.Unsubscribe:
		s.subscriptions.Catalog(false)
	}
	s.DecideOwn(req, s.Reply(req, result)).End(audit.OK)
}
