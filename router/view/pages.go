package view

import (
	"errors"
	"slices"
	"strconv"
	"sync"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// maxPageBytes limits a page of a list, unless a single item is larger. The TypeScript SDK rejects
// messages of 10 MiB.
const maxPageBytes = 8 << 20

// A Page is the answer to a list request, complete except for the request ID.
type Page struct {
	Frame []byte
	Last  bool
}

// OwnItems are toolman's own items in lists: tools, as list elements in front of all others, and a
// resource after all others.
type OwnItems struct {
	Tools    func() []byte // returns nil if there are none
	Resource string
}

// PageID is the position of the request ID in a page's frame.
var PageID = jsonrpc.Span{Lo: len(`{"jsonrpc":"2.0","id":`), Hi: len(`{"jsonrpc":"2.0","id":0`)}

// FirstPage returns the first page of a list. It is rendered once per view.
func (v *View) FirstPage(as Variant, k mcpwire.Kind, own OwnItems) *Page {
	return v.pages.get(pageKey{as, k}, func() *Page { return v.Page(as, k, 0, own) })
}

// pages caches the first pages of a view. Sessions with the same view share it.
type pages struct {
	mu    sync.Mutex
	cache map[pageKey]*Page // guarded by mu
}

// A pageKey identifies a first page of a view.
type pageKey struct {
	Variant
	kind mcpwire.Kind
}

// get returns a page, which it renders on first use.
func (x *pages) get(key pageKey, make func() *Page) *Page {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := x.cache[key]
	if p == nil {
		p = make()
		if x.cache == nil {
			x.cache = map[pageKey]*Page{}
		}
		x.cache[key] = p
	}
	return p
}

// Page renders a page of a list that starts with the entry at index from.
func (v *View) Page(as Variant, k mcpwire.Kind, from int, own OwnItems) *Page {
	entries := v.Visible(k, as.Modern)
	from = min(from, len(entries)) // fewer entries may be active than when the cursor was issued
	var first []byte
	if k == mcpwire.Tool && from == 0 {
		first = own.Tools()
	}
	size := len(first)
	to := from
	for ; to < len(entries); to++ {
		next := len(entries[to].Item.Raw) + len(entries[to].Name) + 2
		if as.AlwaysLoad {
			next += len(entries[to].Load.New)
		}
		if to > from && size+next > maxPageBytes {
			break
		}
		size += next
	}
	frame := make([]byte, 0, size+len(own.Resource)+128)
	frame = append(frame, `{"jsonrpc":"2.0","id":0,"result":{`...)
	if as.Modern {
		frame = mcpwire.AppendComplete(frame, k.ListMethod())
	}
	frame = append(append(append(frame, '"'), k.Member()...), `":[`...)
	frame = append(frame, first...)
	for i, e := range entries[from:to] {
		if i > 0 || first != nil {
			frame = append(frame, ',')
		}
		frame = e.AppendListed(frame, as.Modern, as.AlwaysLoad)
	}
	if k == mcpwire.Resource && to == len(entries) {
		if to > from {
			frame = append(frame, ',')
		}
		frame = append(frame, own.Resource...)
	}
	frame = append(frame, ']')
	if to < len(entries) {
		frame = append(frame, `,"nextCursor":"`...)
		frame = append(strconv.AppendInt(frame, int64(to), 10), '"')
	}
	return &Page{slices.Clip(append(frame, "}}"...)), to == len(entries)}
}

// Cursor returns the cursor of a list request: the number of entries on earlier pages.
func Cursor(m *jsonrpc.Message) (int, error) {
	at, err := m.Param("cursor")
	if err != nil || !at.Present() || string(m.Bytes(at)) == "null" {
		return 0, err
	}
	from, err := strconv.Atoi(string(m.Text(at)))
	if err != nil || from <= 0 {
		return 0, ErrCursor
	}
	return from, nil
}

// ErrCursor reports a cursor that toolman has not issued.
var ErrCursor = errors.New("toolman has not issued this cursor; list again without a cursor")
