package router

import (
	"toolman/router/client"
	"toolman/router/metatool"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/tracing"
	"toolman/router/view"
)

// listLocked answers a list request from what is cached. The first page is made
// once for a view.
func (s *Session) listLocked(req *client.Request, k mcpwire.Kind) {
	as := s.variantLocked(req.Modern)
	v := s.View.Load().Listed(as.Mode)
	from, err := view.Cursor(req.Message)
	if err == nil && from > len(v.Catalog.Entries(k)) {
		err = view.ErrCursor
	}
	if err != nil {
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidParams, Text: err.Error()})
		return
	}
	own := view.OwnItems{Tools: func() []byte { return s.definitions().Tools(v, as) }, Resource: metatool.CatalogResource(s.builtin.offers)}
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
		s.toolsRelistedLocked()
	}
}
