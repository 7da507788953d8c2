package upstream

import (
	"cmp"
	"context"
	"time"

	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
	"toolman/router/discovery"
)

// handshake finds out of which era the server is, and what it offers. A server that is
// not known is taken for one of the era that it was pinned in, since some define items
// differently in each, and else of the client's first: that way there is the least to
// bridge.
func (u *Upstream) handshake(ctx context.Context) error {
	first := cmp.Or(u.Era, u.env.Router.Rules().Eras[u.Name], mcpwire.EraOf(u.greeting.client.Version))
	h := discovery.Handshake{Control: u.pipe.control, Era: u.Era, First: first, Client: u.greeting.client, Claim: u.env.claim(), Info: u.env.info(),
		Started: u.life.startedAt, Probing: &u.greeting.probing}
	result, err := h.Do(ctx)
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

// read reads lists of the server.
func (u *Upstream) read(ctx context.Context, kinds []mcpwire.Kind) error {
	u.mu.Lock()
	s := &discovery.Server{Control: u.pipe.control, Result: u.offered.result, Claim: u.env.claim()}
	u.mu.Unlock()
	return u.lists.Read(ctx, s, kinds)
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
