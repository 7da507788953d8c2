package upstream

import (
	"cmp"
	"context"

	"toolman/jsonrpc/peer"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
	"toolman/router/apps"
	"toolman/router/discovery"
	"toolman/router/tracing"
)

// firstEra returns the era that the handshake tries first: the configured one, or else the one that
// the server's items were pinned in, because some servers define items differently in each era.
// Without pins it is the client's era, which needs the least translation.
func (u *Upstream) firstEra() mcpwire.Era {
	return cmp.Or(u.Era, u.env.Router.Rules().Eras[u.Name], mcpwire.EraOf(u.greeting.client.Version))
}

// handshake finds the era of the server and what it offers.
func (u *Upstream) handshake(ctx context.Context) error {
	h := discovery.Handshake{Control: u.transport.control, Era: u.Era, First: u.firstEra(), Client: u.greeting.client, Claim: u.claim(), Info: u.env.info(),
		Started: u.lifecycle.startedAt, Probing: &u.greeting.probing}
	result, err := h.Do(ctx)
	if err != nil {
		return err
	}
	if modern := mcpwire.EraOf(result.ProtocolVersion) == mcpwire.Modern; modern != u.Source.Modern {
		u.Source.Modern = modern // not in a dedicated upstream: it has the value from NewDedicated, and calls read it
	}
	u.declared.Store(&result)
	if u.Source.Modern {
		u.env.Trace.Event(trace.EventReady, u.Name, "discovered, revision "+result.ProtocolVersion, 0)
		return nil
	}
	u.env.Trace.Event(trace.EventReady, u.Name, "initialized, revision "+result.ProtocolVersion, 0)
	return u.transport.control.Notify(ctx, string(mcpwire.Initialized), nil)
}

// claim returns the metadata of toolman's own requests to modern servers. It declares the client's
// extensions, because servers may list other items for a client with an extension.
func (u *Upstream) claim() *mcpwire.Claim {
	return mcpwire.NewClaim(apps.ExtensionsOf(u.greeting.client.Capabilities), u.env.info(), "")
}

// read reads lists of the server.
func (u *Upstream) read(ctx context.Context, kinds []mcpwire.Kind) error {
	s := &discovery.Server{Control: u.transport.control, Result: *u.result(), Claim: u.claim()}
	return u.items.lists.Read(ctx, s, kinds)
}

// changed marks lists of the server as changed, and has them read again.
func (u *Upstream) changed(kinds ...mcpwire.Kind) {
	if len(kinds) > 0 {
		u.Results.Drop()
	}
	u.items.refresher.Changed(kinds...)
}

// reread reads lists of the server again and shows them.
func (u *Upstream) reread(kinds []mcpwire.Kind) {
	ctx, cancel := context.WithTimeout(u.env.Context, u.StartTimeout)
	u.read(ctx, kinds) // logs its errors
	cancel()
	u.update()
	u.items.keeper.Changed()
}

// result returns the server's result of the handshake; before, it is empty.
func (u *Upstream) result() *mcpwire.InitializeResult { return u.declared.Load() }

// A feedServer is an upstream as its Feed sees it.
type feedServer Upstream

// SendFrame implements feed.Server.
func (u *feedServer) SendFrame(out *peer.Outgoing, frame []byte, note tracing.Note) error {
	return (*Upstream)(u).SendFrame(out, frame, note)
}

// Result implements feed.Server.
func (u *feedServer) Result() *mcpwire.InitializeResult { return (*Upstream)(u).result() }

// Claim implements feed.Server.
func (u *feedServer) Claim() *mcpwire.Claim { return (*Upstream)(u).claim() }

// Owned implements feed.Server.
func (u *feedServer) Owned() bool { return (*Upstream)(u).Owner() != nil }

// Dedicated implements feed.Server.
func (u *feedServer) Dedicated() bool { return (*Upstream)(u).Shared() != nil }

// ListsChanged implements feed.Server.
func (u *feedServer) ListsChanged(kinds ...mcpwire.Kind) { (*Upstream)(u).changed(kinds...) }
