package builtin

import (
	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/metatool"
	"toolman/router/tracing"
	"toolman/router/view"
)

// Announce sends a list_changed notification for each kind whose list in the client's mode differs
// between two views. It reports whether it announced a change of the tools.
func (s *Items) Announce(before, after *view.View, out *peer.Outgoing) (tools bool) {
	active := before.Changes(after)
	listed := func(modern bool) view.Changes {
		if s.mode(modern) == view.ModeMutate {
			return active
		}
		return before.AtStart().Changes(after.AtStart())
	}
	legacy, modern := listed(false), listed(true)
	tools = s.Subscriptions.ListChanged(out, mcpwire.ToolsListChanged, legacy.Tools, modern.Tools)
	if active.Tools {
		s.Subscriptions.CatalogChanged(out)
	}
	s.Subscriptions.ListChanged(out, mcpwire.ResourcesListChanged, legacy.Resources, modern.Resources)
	s.Subscriptions.ListChanged(out, mcpwire.PromptsListChanged, legacy.Prompts, modern.Prompts)
	return tools
}

// List answers a list request. The first page is rendered once per view.
func (s *Items) List(req *client.Request, k mcpwire.Kind) {
	as := s.Variant(req.Modern)
	as.Offers.Login = s.canLogIn(req)
	v := s.View.Load().Listed(as.Mode)
	from, err := view.Cursor(req.Message)
	if err == nil && from > len(v.Catalog.Entries(k)) {
		err = view.ErrCursor
	}
	if err != nil {
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidParams, Text: err.Error()})
		return
	}
	own := view.OwnItems{Tools: func() []byte { return s.Definitions().Tools(v, as) }, Resource: metatool.CatalogResource(s.Offers)}
	var p *view.Page
	if from > 0 {
		p = v.Page(as, k, from, own)
	} else {
		p = v.FirstPage(as, k, own)
	}
	n := s.TraceArrival(req, jsonrpc.Span{})
	req.Out.Edit(view.PageID, req.Bytes(req.ID))
	s.Pass(req.Out, &jsonrpc.Message{Frame: p.Frame, Kind: jsonrpc.Response, ID: view.PageID}, &tracing.Note{ID: n, Method: k.ListMethod(), Status: "local"})
	if k == mcpwire.Tool && p.Last {
		s.relisted()
	}
}

// CatalogResource answers requests about toolman's own resource.
func (s *Items) CatalogResource(req *client.Request) {
	result := []byte("{}")
	switch req.Method {
	case mcpwire.ResourcesRead:
		result = append([]byte(nil), `{"contents":[{"uri":"`+catalog.CatalogURI+`","mimeType":"text/plain","text":"`...)
		result = append(view.AppendCatalog(result, s.View.Load(), 0), `"}]}`...)
	case mcpwire.Subscribe:
		if err := s.Subscriptions.Catalog(true); err != nil {
			s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidParams, Text: err.Error()})
			return
		}
	case mcpwire.Unsubscribe:
		s.Subscriptions.Catalog(false)
	}
	if req.Method != mcpwire.ResourcesRead {
		s.Tracker.Changed()
	}
	s.BeginOwnAudit(req, s.Reply(req, result)).End(audit.OK)
}
