package router

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/tracing"
)

// listBytes bounds one page of a list, unless a single item is larger. The
// TypeScript SDK gives up on a message of 10 MiB.
const listBytes = 8 << 20

const catalogResource = `{"uri":"` + catalog.CatalogURI + `","name":"toolman catalog","title":"All tools and resources, active ones marked with *",` +
	`"description":"Everything that ` + catalog.ActivateTool + ` can switch on and off, one line an item.","mimeType":"text/plain"}`

// catalogResource names toolman_activate only where there is one.
func (s *Session) catalogResource() string {
	if s.offers.NoActivate {
		return strings.Replace(catalogResource, "that "+catalog.ActivateTool+" can switch on and off", "there is", 1)
	}
	return catalogResource
}

// A page is the answer to a list request, ready but for its id.
type page struct {
	frame []byte
	last  bool
}

// A pageKey says which page of a view it is.
type pageKey struct {
	variant
	kind mcpwire.Kind
}

// pages keeps the first pages of a view, which sessions with the same view share.
type pages struct {
	mu   sync.Mutex
	made map[pageKey]*page // guarded by mu
}

// get returns a page, made when it is first asked for.
func (x *pages) get(key pageKey, make func() *page) *page {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := x.made[key]
	if p == nil {
		p = make()
		if x.made == nil {
			x.made = map[pageKey]*page{}
		}
		x.made[key] = p
	}
	return p
}

// pageID is where a page's frame has its id.
var pageID = jsonrpc.Span{Lo: len(`{"jsonrpc":"2.0","id":`), Hi: len(`{"jsonrpc":"2.0","id":0`)}

// listLocked answers a list request from what is cached. The first page is made
// once for a view.
func (s *Session) listLocked(req *request, k mcpwire.Kind) {
	as := s.variantLocked(req.modern)
	v := s.view.Load().shown(as.mode)
	from, err := cursor(req.Message)
	if err == nil && from > len(v.catalog.Entries(k)) {
		err = errCursor
	}
	if err != nil {
		s.refuse(req, refusal{code: jsonrpc.CodeInvalidParams, text: err.Error()})
		return
	}
	make := func() *page { return s.page(v, as, k, from) }
	var p *page
	if from > 0 {
		p = make()
	} else {
		p = v.pages.get(pageKey{as, k}, make)
	}
	n := s.arrivedLocked(req, jsonrpc.Span{})
	req.out.Edit(pageID, req.Bytes(req.ID))
	s.pass(req.out, &jsonrpc.Message{Frame: p.frame, Kind: jsonrpc.Response, ID: pageID}, &tracing.Note{ID: n, Method: k.ListMethod(), Status: "local"})
	if k == mcpwire.Tool && p.last {
		s.listedLocked()
	}
}

// page renders a page of a list. What is toolman's own comes before the tools and
// after the resources.
func (s *Session) page(v *View, as variant, k mcpwire.Kind, from int) *page {
	entries := v.visible(k, as.modern)
	from = min(from, len(entries)) // fewer may be active than when the cursor was given
	var own []byte
	if k == mcpwire.Tool && from == 0 {
		own = s.ownTools(v, as)
	}
	size := len(own)
	to := from
	for ; to < len(entries); to++ {
		next := len(entries[to].Item.Raw) + len(entries[to].Name) + 2
		if as.alwaysLoad {
			next += len(entries[to].Load.New)
		}
		if to > from && size+next > listBytes {
			break
		}
		size += next
	}
	frame := make([]byte, 0, size+len(catalogResource)+128)
	frame = append(frame, `{"jsonrpc":"2.0","id":0,"result":{`...)
	if as.modern {
		frame = mcpwire.AppendComplete(frame, k.ListMethod())
	}
	frame = append(append(append(frame, '"'), k.Member()...), `":[`...)
	frame = append(frame, own...)
	for i, e := range entries[from:to] {
		if i > 0 || own != nil {
			frame = append(frame, ',')
		}
		frame = e.AppendListed(frame, as.modern, as.alwaysLoad)
	}
	if k == mcpwire.Resource && to == len(entries) {
		if to > from {
			frame = append(frame, ',')
		}
		frame = append(frame, s.catalogResource()...)
	}
	frame = append(frame, ']')
	if to < len(entries) {
		frame = append(frame, `,"nextCursor":"`...)
		frame = append(strconv.AppendInt(frame, int64(to), 10), '"')
	}
	return &page{slices.Clip(append(frame, "}}"...)), to == len(entries)}
}

// cursor reads the cursor of a list request: how many entries came before.
func cursor(m *jsonrpc.Message) (int, error) {
	at, err := m.Param("cursor")
	if err != nil || !at.Present() || string(m.Bytes(at)) == "null" {
		return 0, err
	}
	from, err := strconv.Atoi(string(m.Text(at)))
	if err != nil || from <= 0 {
		return 0, errCursor
	}
	return from, nil
}

var errCursor = errors.New("the cursor is not one that toolman gave; list again without a cursor")
