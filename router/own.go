package router

import (
	"errors"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/view"
)

// What instructions start with, and what they end with where lists do not change.
const (
	instructionsStart = "toolman serves the tools, resources and prompts of several MCP servers, each under the name of its server " +
		"(such as fs_read_file; the servers' own texts use the names without it). Only some are active. "
	instructionsCall = " A tool that was switched on and is not in your list is called with " + CallTool + "."
)

// instructions say to the client's model how toolman is used.
func instructions(m view.Mode) string {
	const end = "The description of the tool " +
		catalog.ActivateTool + " lists all of them, active ones with a *; call it to switch on what a task needs, and to switch off what it " +
		"no longer needs. The resource " + catalog.CatalogURI + " holds the same list."
	switch m {
	case view.ModeStatic:
		return instructionsStart + "The resource " + catalog.CatalogURI + " lists all of them, active ones with a *; which are active is fixed."
	case view.ModeCall:
		return instructionsStart + end + instructionsCall
	}
	return instructionsStart + end
}

// instructionsLocked are those for a client of an era.
func (s *Session) instructionsLocked(modern bool) string {
	m, o := s.modeOf(modern), s.offers
	if !o.NoActivate || m == view.ModeStatic {
		return instructions(m)
	}
	text := instructionsStart + "The resource " + catalog.CatalogURI + " lists all of them, active ones with a *."
	if o.Toolsets {
		text += " list_toolsets shows groups of them, and enable_toolset makes the tools of one active."
	}
	if o.Manage {
		text += " equip-toolset makes the tools of a saved toolset the only active ones."
	}
	if m == view.ModeCall && (o.Toolsets || o.Manage) {
		text += instructionsCall
	}
	return text
}

// initializeLocked answers the client at once. The upstreams are started by now,
// and learn who the client is and what it can do.
func (s *Session) initializeLocked(req *request) {
	if s.hello != nil && s.hello.Version != "" {
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
	s.hello = &hello
	s.claim = hello.Claim(s.levelName)
	version := mcpwire.Negotiate(hello.Version)
	s.connected(&hello, version)
	s.revision = version
	s.answerOwn(req, mcpwire.AppendInitializeResult(nil, version, s.r.Version, s.instructionsLocked(req.modern)))
	if s.who.Sole {
		s.r.greet(hello)
	} else if s.r.opened.Load() {
		s.takeOwnLocked()
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
	s.decideOwnLocked(req, s.answerOwn(req, result)).End(audit.OK)
}

// ownCatalog is the subscription to toolman's own resource.
var ownCatalog = subscription{uri: catalog.CatalogURI}
