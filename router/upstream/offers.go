package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/catalog"
)

// probeTime is how long a server may take to answer server/discover, from its start
// on: servers of the handshake may never do.
const probeTime = 15 * time.Second

// errProbed says that the server has ended because it was asked for its era.
var errProbed = errors.New("it ended when it was asked for its era")

// meet finds out of which era the server is, and what it offers. A server that is
// not known is taken for one of the era that it was pinned in, since some define items
// differently in each, and else of the client's first: that way there is the least to
// bridge.
func (u *Upstream) meet(ctx context.Context) error {
	first := u.Era
	if first == mcpwire.Unknown {
		first = u.env.Host.Rules().Eras[u.Name]
	}
	if first == mcpwire.Unknown {
		first = mcpwire.EraOf(u.greeting.client.Version)
	}
	var result mcpwire.InitializeResult
	var err error
	if first == mcpwire.Modern {
		result, err = u.discoverFirst(ctx)
	} else {
		result, err = u.initializeFirst(ctx)
	}
	if err != nil {
		return err
	}
	if modern := mcpwire.EraOf(result.ProtocolVersion) == mcpwire.Modern; modern != u.Source.Modern {
		u.Source.Modern = modern // a process that one session has for itself has it from the start, and calls read it
	}
	u.mu.Lock()
	u.offered.result = result
	u.mu.Unlock()
	if u.Source.Modern {
		u.env.Trace.Event(trace.EventReady, u.Name, "discovered, revision "+result.ProtocolVersion, 0)
		return nil
	}
	u.env.Trace.Event(trace.EventReady, u.Name, "initialized, revision "+result.ProtocolVersion, 0)
	return u.pipe.control.Notify(ctx, string(mcpwire.Initialized), nil)
}

// initializeFirst tries the handshake, and asks a server that refuses it whether it
// is a modern one.
func (u *Upstream) initializeFirst(ctx context.Context) (mcpwire.InitializeResult, error) {
	result, err := u.handshake(ctx)
	var refused *jsonrpc.Error
	if u.Era == mcpwire.Legacy || !errors.As(err, &refused) {
		return result, err
	}
	if modern, modernErr := u.discover(ctx); modernErr == nil && modern.ProtocolVersion != "" {
		return modern, nil
	}
	return result, err
}

// discoverFirst asks what a modern server would answer, and goes through the handshake
// with any other.
func (u *Upstream) discoverFirst(ctx context.Context) (mcpwire.InitializeResult, error) {
	probe, cancel := context.WithDeadline(ctx, u.life.startedAt.Add(probeTime))
	defer cancel()
	u.greeting.probing.Store(u.Era == mcpwire.Unknown)
	result, err := u.discover(probe)
	if u.Era == mcpwire.Unknown && !u.greeting.probing.CompareAndSwap(true, false) {
		return result, errProbed
	}
	if listed, modern := mcpwire.ListedVersions(err); modern && mcpwire.Mutual(listed, mcpwire.Modern) != "" {
		result, err = u.discover(ctx) // once more: it may have been another request's claim
	}
	switch {
	case err == nil && result.ProtocolVersion != "":
		return result, nil
	case u.Era == mcpwire.Modern && err == nil:
		return result, fmt.Errorf("server/discover: the server speaks no revision from %s on", mcpwire.Newest)
	case u.Era == mcpwire.Modern:
		return result, err
	}
	result, handshakeErr := u.handshake(ctx)
	if _, modern := mcpwire.ListedVersions(handshakeErr); modern {
		return u.discover(ctx) // a slow one that has made up its mind
	}
	return result, handshakeErr
}

// discover asks a modern server what it is.
func (u *Upstream) discover(ctx context.Context) (mcpwire.InitializeResult, error) {
	raw, err := u.pipe.control.Call(ctx, string(mcpwire.Discover), json.RawMessage(u.env.claim().AppendParams(nil, nil)))
	if err != nil {
		return mcpwire.InitializeResult{}, err
	}
	result, err := mcpwire.ParseDiscoverResult(raw)
	if err != nil {
		return result, fmt.Errorf("%s: %w", mcpwire.Discover, err)
	}
	return result, nil
}

// handshake does initialize.
func (u *Upstream) handshake(ctx context.Context) (mcpwire.InitializeResult, error) {
	hello := *u.greeting.client
	result, err := u.initialize(ctx, hello, mcpwire.Latest)
	if listed, _ := mcpwire.ListedVersions(err); mcpwire.Mutual(listed, mcpwire.Legacy) != "" {
		result, err = u.initialize(ctx, hello, mcpwire.Mutual(listed, mcpwire.Legacy))
	}
	if err != nil {
		return result, err
	}
	if !mcpwire.Supported(result.ProtocolVersion) {
		return result, fmt.Errorf("initialize: the server speaks revision %q, which this toolman does not", sanitize.Cut(result.ProtocolVersion, catalog.NameLimit))
	}
	return result, nil
}

func (u *Upstream) initialize(ctx context.Context, hello mcpwire.Hello, version string) (result mcpwire.InitializeResult, err error) {
	params := mcpwire.InitializeParams{ProtocolVersion: version, Capabilities: hello.Relayed(), ClientInfo: hello.Info}
	if params.ClientInfo == nil {
		params.ClientInfo = u.env.info()
	}
	raw, err := u.pipe.control.Call(ctx, string(mcpwire.Initialize), params)
	if err != nil {
		return result, err
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return result, fmt.Errorf("initialize: the answer has a wrong shape: %w", err)
	}
	return result, nil
}

// Bounds on what one list of one server may be.
const (
	maxPages     = 1000
	maxItems     = 20_000
	maxListBytes = 64 << 20
)

// read reads lists of the upstream, all at once, and prepares their entries. A
// list that fails costs its own kind, and is logged; it is an error only when
// nothing could be read.
func (u *Upstream) read(ctx context.Context, kinds []mcpwire.Kind) error {
	kinds = slices.DeleteFunc(slices.Clone(kinds), func(k mcpwire.Kind) bool { return !u.lists(k) })
	if len(kinds) == 0 {
		return nil
	}
	errs := make([]error, len(kinds))
	var wg sync.WaitGroup
	for i, k := range kinds[1:] {
		wg.Go(func() { errs[i+1] = u.readKind(ctx, k) })
	}
	errs[0] = u.readKind(ctx, kinds[0]) // many servers have no more, and need no goroutine
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
func (u *Upstream) lists(k mcpwire.Kind) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return k == mcpwire.Tool || u.offered.result.Offers(k.Capability())
}

// readKind reads all pages of one list and keeps the items. When a page fails, the
// list of before stays as a whole; only where there was none are some items better.
func (u *Upstream) readKind(ctx context.Context, k mcpwire.Kind) error {
	items, err := u.pages(ctx, k)
	u.noteUnread(k, err)
	var refused *jsonrpc.Error
	switch {
	case err == nil:
	case errors.As(err, &refused) && len(items) == 0 && !u.declares(k):
		return errNotOffered
	case len(items) > 0 && (errors.Is(err, errCut) || !u.has(k)):
		u.Log.Warn("a list could not be read whole", zap.Stringer("kind", k), zap.NamedError("err", err))
	default:
		u.Log.Warn("a list could not be read; what it was before stays", zap.Stringer("kind", k), zap.NamedError("err", err))
		return err
	}
	u.keepItems(k, items)
	return nil
}

// noteUnread remembers why a list could not be read, if so. A server that does not know the
// request has no such list: templates often come with resources only in name.
func (u *Upstream) noteUnread(k mcpwire.Kind, err error) {
	why := ""
	if refused, ok := errors.AsType[*jsonrpc.Error](err); err != nil && !(ok && (refused.Code == jsonrpc.CodeMethodNotFound || !u.declares(k))) {
		why = err.Error()
	}
	u.mu.Lock()
	u.offered.unread[k] = why
	u.mu.Unlock()
}

// has reports whether items of a kind have been read.
func (u *Upstream) has(k mcpwire.Kind) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.offered.entries[k]) > 0
}

func (u *Upstream) declares(k mcpwire.Kind) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.offered.result.Offers(k.Capability())
}

// keepItems makes entries of the items. Entries whose item is as it was stay the same,
// so that a list that has not changed is seen not to have.
func (u *Upstream) keepItems(k mcpwire.Kind, items []mcpwire.Item) {
	given := u.env.Host.Rules() // there may be others before this is done
	u.mu.Lock()
	old := u.offered.entries[k]
	u.mu.Unlock()
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
		entries[i] = catalog.NewEntry(u.Source, item, u.env.Host.Rules())
	}
	u.mu.Lock()
	u.offered.entries[k] = entries
	u.mu.Unlock()
	if u.env.Host.Rules() != given {
		u.Reevaluate()
	}
}

// errCut says that a list was longer than is taken. It would be so the next time.
var errCut = errors.New("its first items are kept")

// pages follows a list through its pages. It returns what it has gathered also
// when a page fails, the cursor repeats or a bound is reached.
func (u *Upstream) pages(ctx context.Context, k mcpwire.Kind) ([]mcpwire.Item, error) {
	var items []mcpwire.Item
	params := u.listParams(nil)
	seen := map[string]bool{}
	size := 0
	for range maxPages {
		raw, err := u.pipe.control.Call(ctx, string(k.ListMethod()), params)
		if err != nil {
			return items, err
		}
		page, err := mcpwire.ParsePage(k, raw)
		if err != nil {
			return items, err
		}
		for _, odd := range page.Odd {
			u.Log.Warn("an item was left out", zap.NamedError("err", odd))
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
		params = u.listParams(&page.Next)
	}
	return items, fmt.Errorf("%s has more than %d pages; %w", k.ListMethod(), maxPages, errCut)
}

// listParams are the params of a list request, nil if it needs none. The first page
// has no cursor.
func (u *Upstream) listParams(cursor *string) any {
	var members []byte
	if cursor != nil {
		members = jsonrpc.AppendQuoted([]byte(`"cursor":`), *cursor)
	}
	switch {
	case u.Source.Modern:
		return json.RawMessage(u.env.claim().AppendParams(nil, members))
	case cursor == nil:
		return nil
	}
	return json.RawMessage("{" + string(members) + "}")
}

// debounce folds the changes that a server announces in a burst into one.
const debounce = 50 * time.Millisecond

// changed notes that lists of the server have changed and reads them again soon.
// One reading is under way at most.
func (u *Upstream) changed(kinds ...mcpwire.Kind) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, k := range kinds {
		u.offered.stale[k] = true
	}
	if u.state != Ready || u.offered.refreshing || u.offered.stale == ([mcpwire.Kinds]bool{}) {
		return
	}
	u.offered.refreshing = true
	go u.refresh()
}

// refresh reads what has changed until nothing has.
func (u *Upstream) refresh() {
	for {
		select {
		case <-time.After(debounce):
		case <-u.life.ended:
			return
		}
		kinds := u.takeStale()
		if len(kinds) == 0 {
			return
		}
		ctx, cancel := context.WithTimeout(u.env.Context, u.StartTimeout)
		u.read(ctx, kinds) // logs what fails
		cancel()
		u.update()
	}
}

// takeStale returns the kinds to read again, and ends the refreshing when there
// are none.
func (u *Upstream) takeStale() []mcpwire.Kind {
	u.mu.Lock()
	defer u.mu.Unlock()
	var kinds []mcpwire.Kind
	for k := range u.offered.stale {
		if u.offered.stale[k] {
			kinds = append(kinds, mcpwire.Kind(k))
		}
	}
	u.offered.stale = [mcpwire.Kinds]bool{}
	u.offered.refreshing = len(kinds) > 0
	return kinds
}
