package router

import (
	"errors"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/metatool"
	"toolman/router/view"
)

// initializeLocked answers the client at once. The upstreams are started by now,
// and learn who the client is and what it can do.
func (s *Session) initializeLocked(req *request) {
	if s.peer.hello != nil && s.peer.hello.Version != "" {
		s.refuse(req, refusal{code: jsonrpc.CodeInvalidRequest, text: "initialize was answered already; start a new connection to begin again"})
		return
	}
	hello, err := mcpwire.ParseHello(req.Message)
	if err == nil && hello.Version == "" {
		err = errors.New("initialize needs params.protocolVersion")
	}
	if err != nil {
		s.refuse(req, refusal{code: jsonrpc.CodeInvalidParams, text: err.Error()})
		return
	}
	if err := s.retainLocked(len(hello.Capabilities) + len(hello.Info)); err != nil {
		s.refuse(req, refusal{code: jsonrpc.CodeInternalError, verdict: string(audit.Busy), text: err.Error()})
		return
	}
	s.peer.hello = &hello
	s.peer.meta = hello.Claim(s.logLevel.name)
	version := mcpwire.Negotiate(hello.Version)
	s.connected(&hello, version)
	s.peer.revision = version
	s.replyLocal(req, mcpwire.AppendInitializeResult(nil, version, s.r.Version, metatool.Instructions(s.modeOf(req.modern), s.builtin.offers)))
	if s.who.Sole {
		s.r.greet(hello)
	} else if s.r.startup.opened.Load() {
		s.startDedicatedLocked()
	}
}

// catalogLocked answers requests about toolman's own resource.
func (s *Session) catalogLocked(req *request) {
	result := []byte("{}")
	switch req.method {
	case mcpwire.ResourcesRead:
		result = append([]byte(nil), `{"contents":[{"uri":"`+catalog.CatalogURI+`","mimeType":"text/plain","text":"`...)
		result = append(view.AppendCatalog(result, s.view.Load(), 0), `"}]}`...)
	case mcpwire.Subscribe:
		if err := s.subscribeLocked(ownCatalog, catalog.CatalogURI); err != nil {
			s.refuse(req, refusal{code: jsonrpc.CodeInvalidParams, text: err.Error()})
			return
		}
	case mcpwire.Unsubscribe:
		s.unsubscribeLocked(ownCatalog)
	}
	s.decideOwnLocked(req, s.replyLocal(req, result)).End(audit.OK)
}

// ownCatalog is the subscription to toolman's own resource.
var ownCatalog = subscription{uri: catalog.CatalogURI}
