package view

import (
	"errors"
	"slices"
	"strconv"
	"sync"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// listBytes bounds one page of a list, unless a single item is larger. The
// TypeScript SDK gives up on a message of 10 MiB.
const listBytes = 8 << 20

// A Page is the answer to a list request, ready but for its id.
type Page struct {
	Frame []byte
	Last  bool
}

// A pageKey says which page of a view it is.
type pageKey struct {
	Variant
	kind mcpwire.Kind
}

// pages keeps the first pages of a view, which sessions with the same view share.
type pages struct {
	mu   sync.Mutex
	made map[pageKey]*Page // guarded by mu
}

// get returns a page, made when it is first asked for.
func (x *pages) get(key pageKey, make func() *Page) *Page {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := x.made[key]
	if p == nil {
		p = make()
		if x.made == nil {
			x.made = map[pageKey]*Page{}
		}
		x.made[key] = p
	}
	return p
}

// PageID is where a page's frame has its id.
var PageID = jsonrpc.Span{Lo: len(`{"jsonrpc":"2.0","id":`), Hi: len(`{"jsonrpc":"2.0","id":0`)}

// OwnItems are toolman's own items in lists: tools, as elements of a list, before all others, and a
// resource after all others.
type OwnItems struct {
	Tools    func() []byte // nil for none
	Resource string
}

// FirstPage returns the first page of a list. It is made once for a view.
func (v *View) FirstPage(as Variant, k mcpwire.Kind, own OwnItems) *Page {
	return v.pages.get(pageKey{as, k}, func() *Page { return v.Page(as, k, 0, own) })
}

// Page renders a page of a list: its entries from one on, as far as there is room.
func (v *View) Page(as Variant, k mcpwire.Kind, from int, own OwnItems) *Page {
	entries := v.Visible(k, as.Modern)
	from = min(from, len(entries)) // fewer may be active than when the cursor was given
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
		if to > from && size+next > listBytes {
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

// Cursor reads the cursor of a list request: how many entries came before.
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

var ErrCursor = errors.New("the cursor is not one that toolman gave; list again without a cursor")
