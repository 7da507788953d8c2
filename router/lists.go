package router

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// Bounds on what one list of one server may be.
const (
	maxPages     = 1000
	maxItems     = 20_000
	maxListBytes = 64 << 20
)

// read reads lists of the upstream, all at once, and prepares their entries. A
// list that fails costs its own kind; it is an error only when nothing could be
// read.
func (u *Upstream) read(ctx context.Context, kinds []mcpwire.Kind) error {
	errs := make([]error, len(kinds))
	var wg sync.WaitGroup
	for i, k := range kinds {
		if !u.lists(k) {
			errs[i] = errNotOffered
			continue
		}
		wg.Go(func() { errs[i] = u.readKind(ctx, k) })
	}
	wg.Wait()
	var first error
	worked := false
	for i, err := range errs {
		switch {
		case err == nil:
			worked = true
		case errors.Is(err, errNotOffered):
		default:
			u.log.Warn("a list could not be read whole", zap.Stringer("kind", kinds[i]), zap.NamedError("err", err))
			if first == nil {
				first = err
			}
		}
	}
	if !worked && first != nil {
		return first
	}
	return nil
}

var errNotOffered = errors.New("not offered")

// lists reports whether the server is to be asked for a kind. Tools are asked for
// even when it has not declared them: some servers forget to.
func (u *Upstream) lists(k mcpwire.Kind) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return k == mcpwire.Tool || u.result.Offers(k.Capability())
}

// readKind reads all pages of one list and keeps what it got, also when it did
// not get all of it.
func (u *Upstream) readKind(ctx context.Context, k mcpwire.Kind) error {
	items, err := u.pages(ctx, k)
	var refused *jsonrpc.Error
	if errors.As(err, &refused) && len(items) == 0 && !u.declares(k) {
		return errNotOffered
	}
	if len(items) > 0 || err == nil {
		u.keep(k, items)
	}
	return err
}

func (u *Upstream) declares(k mcpwire.Kind) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.result.Offers(k.Capability())
}

// keep makes entries of the items. Entries whose item is as it was stay the same,
// so that a list that has not changed is seen not to have.
func (u *Upstream) keep(k mcpwire.Kind, items []mcpwire.Item) {
	u.mu.Lock()
	old := u.entries[k]
	u.mu.Unlock()
	known := make(map[string]*Entry, len(old))
	for _, e := range old {
		if known[e.Item.Name] == nil { // of a name listed twice the catalog has the first
			known[e.Item.Name] = e
		}
	}
	entries := make([]*Entry, len(items))
	for i, item := range items {
		if e := known[item.Name]; e != nil && bytes.Equal(e.Item.Raw, item.Raw) {
			entries[i] = e
			continue
		}
		entries[i] = newEntry(u, item, u.r.Active)
	}
	u.mu.Lock()
	u.entries[k] = entries
	u.mu.Unlock()
}

// pages follows a list through its pages. What was gathered stays when a page
// fails, the cursor repeats or a bound is reached.
func (u *Upstream) pages(ctx context.Context, k mcpwire.Kind) ([]mcpwire.Item, error) {
	var items []mcpwire.Item
	var params any
	seen := map[string]bool{}
	size := 0
	for range maxPages {
		raw, err := u.control.Call(ctx, string(k.ListMethod()), params)
		if err != nil {
			return items, err
		}
		page, err := mcpwire.ParsePage(k, raw)
		if err != nil {
			return items, err
		}
		for _, odd := range page.Odd {
			u.log.Warn("an item was left out", zap.NamedError("err", odd))
		}
		items = append(items, page.Items...)
		size += len(raw)
		switch {
		case len(items) > maxItems:
			return items[:maxItems], fmt.Errorf("%s has more than %d items; kept the first", k.ListMethod(), maxItems)
		case !page.More:
			return items, nil
		case seen[page.Next]:
			return items, fmt.Errorf("%s repeats a cursor; kept the %d items it had given", k.ListMethod(), len(items))
		case size > maxListBytes:
			return items, fmt.Errorf("%s is larger than %d bytes; kept the first %d items", k.ListMethod(), maxListBytes, len(items))
		}
		seen[page.Next] = true
		params = map[string]string{"cursor": page.Next}
	}
	return items, fmt.Errorf("%s has more than %d pages; kept the first %d items", k.ListMethod(), maxPages, len(items))
}

// debounce folds the changes that a server announces in a burst into one.
const debounce = 50 * time.Millisecond

// changed notes that lists of the server have changed and reads them again soon.
// One reading is under way at most.
func (u *Upstream) changed(kinds ...mcpwire.Kind) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, k := range kinds {
		u.stale[k] = true
	}
	if u.state != Ready || u.refreshing || u.stale == ([mcpwire.Kinds]bool{}) {
		return
	}
	u.refreshing = true
	go u.refresh()
}

// refresh reads what has changed until nothing has.
func (u *Upstream) refresh() {
	for {
		select {
		case <-time.After(debounce):
		case <-u.ended:
			return
		}
		kinds := u.takeStale()
		if len(kinds) == 0 {
			return
		}
		ctx, cancel := context.WithTimeout(u.r.ctx, u.StartTimeout)
		if err := u.read(ctx, kinds); err != nil {
			u.log.Warn("changed lists could not be read; the old ones stay", zap.NamedError("err", err))
		}
		cancel()
		u.r.update()
	}
}

// takeStale returns the kinds to read again, and ends the refreshing when there
// are none.
func (u *Upstream) takeStale() []mcpwire.Kind {
	u.mu.Lock()
	defer u.mu.Unlock()
	var kinds []mcpwire.Kind
	for k := range u.stale {
		if u.stale[k] {
			kinds = append(kinds, mcpwire.Kind(k))
		}
	}
	u.stale = [mcpwire.Kinds]bool{}
	u.refreshing = len(kinds) > 0
	return kinds
}
