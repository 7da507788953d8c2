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

// Bounds on what one list of one server may be.
const (
	maxPages     = 1000
	maxItems     = 20_000
	maxListBytes = 64 << 20
)

// Lists are what a server offers, as it was read last.
type Lists struct {
	Source *catalog.Source
	Rules  func() *catalog.Rules // what the configuration says about entries now
	Log    *zap.Logger

	mu      sync.Mutex
	entries [mcpwire.Kinds][]*catalog.Entry // guarded by mu
	unread  [mcpwire.Kinds]string           // guarded by mu: why a list is not known as it is now
}

// A Server is where lists are read from.
type Server struct {
	Control *jsonrpc.Control
	Result  mcpwire.InitializeResult // of its handshake
	Claim   *mcpwire.Claim           // what toolman says of itself to a modern one
}

// Entries returns what the server offers, by kind.
func (l *Lists) Entries() [mcpwire.Kinds][]*catalog.Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.entries
}

// Unread returns, by kind, why a list is not known as it is now, or not whole; "" if it is.
func (l *Lists) Unread() [mcpwire.Kinds]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unread
}

// A reading is under way.
type reading struct {
	*Lists
	server *Server
}

// Read reads lists of the server, all at once, and prepares their entries. A
// list that fails costs its own kind, and is logged; it is an error only when
// nothing could be read.
func (l *Lists) Read(ctx context.Context, s *Server, kinds []mcpwire.Kind) error {
	r := &reading{l, s}

	kinds = slices.DeleteFunc(slices.Clone(kinds), func(k mcpwire.Kind) bool { return !r.lists(k) })
	if len(kinds) == 0 {
		return nil
	}
	errs := make([]error, len(kinds))
	var wg sync.WaitGroup
	for i, k := range kinds[1:] {
		wg.Go(func() { errs[i+1] = r.readKind(ctx, k) })
	}
	errs[0] = r.readKind(ctx, kinds[0]) // many servers have no more, and need no goroutine
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

var errNotOffered = errors.New("not offered")

// lists reports whether the server is to be asked for a kind. Tools are asked for
// even when it has not declared them: some servers forget to.
func (l *reading) lists(k mcpwire.Kind) bool {
	return k == mcpwire.Tool || l.server.Result.Offers(k.Capability())
}

// readKind reads all pages of one list and keeps the items. When a page fails, the
// list of before stays as a whole; only where there was none are some items better.
func (l *reading) readKind(ctx context.Context, k mcpwire.Kind) error {
	items, err := l.pages(ctx, k)
	l.noteUnread(k, err)
	var refused *jsonrpc.Error
	switch {
	case err == nil:
	case errors.As(err, &refused) && len(items) == 0 && !l.declares(k):
		return errNotOffered
	case len(items) > 0 && (errors.Is(err, errCut) || !l.has(k)):
		l.Log.Warn("a list could not be read whole", zap.Stringer("kind", k), zap.NamedError("err", err))
	default:
		l.Log.Warn("a list could not be read; what it was before stays", zap.Stringer("kind", k), zap.NamedError("err", err))
		return err
	}
	l.Keep(k, items)
	return nil
}

// noteUnread remembers why a list could not be read, if so. A server that does not know the
// request has no such list: templates often come with resources only in name.
func (l *reading) noteUnread(k mcpwire.Kind, err error) {
	why := ""
	if refused, ok := errors.AsType[*jsonrpc.Error](err); err != nil && !(ok && (refused.Code == jsonrpc.CodeMethodNotFound || !l.declares(k))) {
		why = err.Error()
	}
	l.mu.Lock()
	l.unread[k] = why
	l.mu.Unlock()
}

// has reports whether items of a kind have been read.
func (l *Lists) has(k mcpwire.Kind) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.entries[k]) > 0
}

func (l *reading) declares(k mcpwire.Kind) bool {
	return l.server.Result.Offers(k.Capability())
}

// Keep makes entries of the items. Entries whose item is as it was stay the same,
// so that a list that has not changed is seen not to have.
func (l *Lists) Keep(k mcpwire.Kind, items []mcpwire.Item) {
	given := l.Rules() // there may be others before this is done
	l.mu.Lock()
	old := l.entries[k]
	l.mu.Unlock()
	known := make(map[string]*catalog.Entry, len(old))
	for _, e := range old {
		if known[e.Item.Name] == nil { // of a name listed twice the catalog has the first
			known[e.Item.Name] = e
		}
	}
	entries := make([]*catalog.Entry, len(items))
	for i, item := range items {
		if e := known[item.Name]; e != nil && bytes.Equal(e.Item.Raw, item.Raw) {
			entries[i] = e
			continue
		}
		entries[i] = catalog.NewEntry(l.Source, item, l.Rules())
	}
	l.mu.Lock()
	l.entries[k] = entries
	l.mu.Unlock()
	if l.Rules() != given {
		l.Reevaluate()
	}
}

// errCut says that a list was longer than is taken. It would be so the next time.
var errCut = errors.New("its first items are kept")

// pages follows a list through its pages. It returns what it has gathered also
// when a page fails, the cursor repeats or a bound is reached.
func (l *reading) pages(ctx context.Context, k mcpwire.Kind) ([]mcpwire.Item, error) {
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
			l.Log.Warn("an item was left out", zap.NamedError("err", odd))
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

// listParams are the params of a list request, nil if it needs none. The first page
// has no cursor.
func (l *reading) listParams(cursor *string) any {
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

// Reevaluate makes the entries anew that other options see in another way.
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
