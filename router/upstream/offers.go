package upstream

import (
	"cmp"
	"context"
	"time"

	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
	"toolman/router/discovery"
)

// handshake finds the era of the server and what it offers. If the era is not configured, it first
// tries the one that the server's items were pinned in, because some servers define items
// differently in each era. Without pins it tries the client's era, which needs the least
// translation.
func (u *Upstream) handshake(ctx context.Context) error {
	first := cmp.Or(u.Era, u.env.Router.Rules().Eras[u.Name], mcpwire.EraOf(u.greeting.client.Version))
	h := discovery.Handshake{Control: u.pipe.control, Era: u.Era, First: first, Client: u.greeting.client, Claim: u.env.claim(), Info: u.env.info(),
		Started: u.life.startedAt, Probing: &u.greeting.probing}
	result, err := h.Do(ctx)
	if err != nil {
		return err
	}
	if modern := mcpwire.EraOf(result.ProtocolVersion) == mcpwire.Modern; modern != u.Source.Modern {
		u.Source.Modern = modern // not in a dedicated upstream: it has the value from NewDedicated, and calls read it
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

// debounce is how long toolman waits after a change of a list for more changes, to read them
// together.
const debounce = 50 * time.Millisecond

// changed marks lists of the server as changed, and starts refresh unless it runs already.
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

// refresh reads changed lists until there are none.
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
		u.read(ctx, kinds) // logs its errors
		cancel()
		u.update()
	}
}

// takeStale returns the kinds to read again. It clears refreshing if there are none.
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
