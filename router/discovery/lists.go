package discovery

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/catalog"
)

// Limits on one list of a server.
const (
	maxPages     = 1000
	maxItems     = 20_000
	maxListBytes = 64 << 20
)

// Lists are the items of a server, as they were last read.
type Lists struct {
	Source *catalog.Source
	Rules  func() *catalog.Rules // returns the current rules for entries
	Log    *zap.Logger

	mu      sync.Mutex
	entries [mcpwire.Kinds][]*catalog.Entry // guarded by mu
	unread  [mcpwire.Kinds]string           // guarded by mu: why a list is out of date or incomplete
}

// A Server is the connection that lists are read from.
type Server struct {
	Control *jsonrpc.Control
	Result  mcpwire.InitializeResult // of the handshake
	Claim   *mcpwire.Claim           // metadata of requests to a modern server
}

// Entries returns the entries by kind.
func (l *Lists) Entries() [mcpwire.Kinds][]*catalog.Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.entries
}

// Unread returns, by kind, why a list is out of date or incomplete; "" if it is not.
func (l *Lists) Unread() [mcpwire.Kinds]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unread
}

// Items returns the items by kind. whole is false if a list is out of date or incomplete.
func (l *Lists) Items() (items [mcpwire.Kinds][]mcpwire.Item, whole bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, entries := range l.entries {
		for _, e := range entries {
			items[k] = append(items[k], e.Item)
		}
	}
	return items, l.unread == [mcpwire.Kinds]string{}
}

// Lacking returns the entries of other lists whose items are not in these.
func (l *Lists) Lacking(other *Lists) (lacking []*catalog.Entry) {
	has := l.Entries()
	for k, entries := range other.Entries() {
		names := map[string]bool{}
		for _, e := range has[k] {
			names[e.Item.Name] = true
		}
		for _, e := range entries {
			if !names[e.Item.Name] {
				lacking = append(lacking, e)
			}
		}
	}
	return lacking
}

// Read reads lists of the server concurrently and replaces their entries. If some lists fail, it
// logs the errors and keeps the entries of those lists. If all fail, it returns the first error.
func (l *Lists) Read(ctx context.Context, s *Server, kinds []mcpwire.Kind) error {
	r := &listReader{l, s}
	kinds = slices.DeleteFunc(slices.Clone(kinds), func(k mcpwire.Kind) bool { return !r.shouldRead(k) })
	if len(kinds) == 0 {
		return nil
	}
	errs := make([]error, len(kinds))
	var wg sync.WaitGroup
	for i, k := range kinds[1:] {
		wg.Go(func() { errs[i+1] = r.readKind(ctx, k) })
	}
	errs[0] = r.readKind(ctx, kinds[0]) // without a goroutine, because many servers have only one list
	wg.Wait()
	var first error
	for _, err := range errs {
		if err == nil {
			return nil
		}
		if first == nil && err != errNotOffered {
			first = err
		}
	}
	return first
}

// A listReader reads lists of one server.
type listReader struct {
	*Lists
	server *Server
}

// shouldRead reports whether toolman asks the server for a kind. It always asks for tools, because
// some servers do not declare them.
func (l *listReader) shouldRead(k mcpwire.Kind) bool { return k == mcpwire.Tool || l.declares(k) }

// declares reports whether the server has declared the capability of a kind.
func (l *listReader) declares(k mcpwire.Kind) bool {
	return l.server.Result.Offers(k.Capability())
}

// readKind reads all pages of one list and keeps the items. If a page fails, the old entries stay.
// Without old entries it keeps the items of the pages before.
func (l *listReader) readKind(ctx context.Context, k mcpwire.Kind) error {
	items, err := l.pages(ctx, k)
	l.noteUnread(k, err)
	var refused *jsonrpc.Error
	switch {
	case err == nil:
	case errors.As(err, &refused) && len(items) == 0 && !l.declares(k):
		return errNotOffered
	case len(items) > 0 && (errors.Is(err, errCut) || !l.has(k)):
		l.Log.Warn("read only a part of a list", zap.Stringer("kind", k), zap.NamedError("err", err))
	default:
		l.Log.Warn("cannot read a list; its old items stay", zap.Stringer("kind", k), zap.NamedError("err", err))
		return err
	}
	l.Keep(k, items)
	return nil
}

// errNotOffered says that the server refused a list that it has not declared.
var errNotOffered = errors.New("not offered")

// noteUnread records why a list could not be read. It is no problem if the server does not know the
// method: many servers with resources have no templates.
func (l *listReader) noteUnread(k mcpwire.Kind, err error) {
	why := ""
	if refused, ok := errors.AsType[*jsonrpc.Error](err); err != nil && !(ok && (refused.Code == jsonrpc.CodeMethodNotFound || !l.declares(k))) {
		why = err.Error()
	}
	l.mu.Lock()
	l.unread[k] = why
	l.mu.Unlock()
}

// has reports whether there are entries of a kind.
func (l *Lists) has(k mcpwire.Kind) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.entries[k]) > 0
}

// pages reads a list page by page. If a page fails, a cursor repeats or a limit is exceeded, it
// returns the items so far and an error.
func (l *listReader) pages(ctx context.Context, k mcpwire.Kind) ([]mcpwire.Item, error) {
	var items []mcpwire.Item
	params := l.listParams(nil)
	seen := map[string]bool{}
	size := 0
	for range maxPages {
		raw, err := l.server.Control.Call(ctx, string(k.ListMethod()), params)
		if err != nil {
			return items, err
		}
		page, err := mcpwire.ParsePage(k, raw)
		if err != nil {
			return items, err
		}
		for _, odd := range page.Odd {
			l.Log.Warn("ignored an item of a list", zap.NamedError("err", odd))
		}
		items = append(items, page.Items...)
		size += len(raw)
		switch {
		case len(items) > maxItems:
			return items[:maxItems], fmt.Errorf("%s has more than %d items; %w", k.ListMethod(), maxItems, errCut)
		case !page.More:
			return items, nil
		case seen[page.Next]:
			return items, fmt.Errorf("%s repeats a cursor; %w", k.ListMethod(), errCut)
		case size > maxListBytes:
			return items, fmt.Errorf("%s is larger than %d bytes; %w", k.ListMethod(), maxListBytes, errCut)
		}
		seen[page.Next] = true
		params = l.listParams(&page.Next)
	}
	return items, fmt.Errorf("%s has more than %d pages; %w", k.ListMethod(), maxPages, errCut)
}

// errCut says that a list exceeds a limit, as it would if it were read again.
var errCut = errors.New("its first items are kept")

// listParams returns the params of a list request, or nil if it needs none. cursor is nil for the
// first page.
func (l *listReader) listParams(cursor *string) any {
	var members []byte
	if cursor != nil {
		members = jsonrpc.AppendQuoted([]byte(`"cursor":`), *cursor)
	}
	switch {
	case l.Source.Modern:
		return json.RawMessage(l.server.Claim.AppendParams(nil, members))
	case cursor == nil:
		return nil
	}
	return json.RawMessage("{" + string(members) + "}")
}

// Keep replaces the entries of a kind. It keeps the entry of an item that has not changed, so that
// an unchanged list can be recognized by its entries.
func (l *Lists) Keep(k mcpwire.Kind, items []mcpwire.Item) {
	rules := l.Rules() // they may change meanwhile
	l.mu.Lock()
	old := l.entries[k]
	l.mu.Unlock()
	known := make(map[string]*catalog.Entry, len(old))
	for _, e := range old {
		if known[e.Item.Name] == nil { // of two items with one name the catalog has the first
			known[e.Item.Name] = e
		}
	}
	entries := make([]*catalog.Entry, len(items))
	for i, item := range items {
		if e := known[item.Name]; e != nil && bytes.Equal(e.Item.Raw, item.Raw) {
			entries[i] = e
			continue
		}
		entries[i] = catalog.NewEntry(l.Source, item, rules)
	}
	l.mu.Lock()
	l.entries[k] = entries
	l.mu.Unlock()
	if l.Rules() != rules {
		l.Reevaluate()
	}
}

// Reevaluate makes new entries of the items that the current rules judge differently.
func (l *Lists) Reevaluate() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, entries := range l.entries {
		next := slices.Clone(entries)
		for i, e := range entries {
			if again := catalog.NewEntry(l.Source, e.Item, l.Rules()); !again.SameRules(e) {
				next[i] = again
			}
		}
		l.entries[mcpwire.Kind(k)] = next
	}
}
