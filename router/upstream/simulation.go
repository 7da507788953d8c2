package upstream

import (
	"context"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/calls"
	"toolman/router/catalog"
)

// A Simulation is an upstream without a connection, for tests of the packages that use upstreams.
// The test does what a server would do.
type Simulation struct{ *Upstream }

// Simulate returns a simulation that uses u.
func Simulate(u *Upstream) Simulation { return Simulation{u} }

// Connect sets what takes the frames for the server.
func (s Simulation) Connect(out peer.Sender) { s.transport.out = out }

// Converse sends toolman's own requests to the server with send, until end is called.
func (s Simulation) Converse(send func(frame []byte) error) (end func()) {
	s.transport.control = jsonrpc.NewControl(send, controlIDs{s.Upstream})
	return s.transport.control.Close
}

// Prepare does the handshake and reads the lists.
func (s Simulation) Prepare(ctx context.Context) error {
	s.lifecycle.startedAt = time.Now()
	return s.prepare(ctx)
}

// Read reads lists of the server.
func (s Simulation) Read(ctx context.Context, kinds []mcpwire.Kind) error { return s.read(ctx, kinds) }

// List sets the items of a kind.
func (s Simulation) List(k mcpwire.Kind, items []mcpwire.Item) { s.items.lists.Keep(k, items) }

// Entries returns the entries of a kind.
func (s Simulation) Entries(k mcpwire.Kind) []*catalog.Entry { return s.items.lists.Entries()[k] }

// Result returns the server's result of the handshake. The caller may change it while nothing else
// runs.
func (s Simulation) Result() *mcpwire.InitializeResult { return s.result() }

// Ready makes the upstream ready, with this result of the handshake.
func (s Simulation) Ready(took time.Duration, result mcpwire.InitializeResult) {
	s.Source.Modern = mcpwire.EraOf(result.ProtocolVersion) == mcpwire.Modern
	s.declared.Store(&result)
	s.becomeReady(took)
}

// IgnoreChanges stops changed lists from being read again.
func (s Simulation) IgnoreChanges() { s.items.refresher.Pause() }

// Lose fails all calls as if the server were gone.
func (s Simulation) Lose() { s.answerAll() }

// End makes the upstream gone, as if its process had ended.
func (s Simulation) End(problem string) {
	s.mu.Lock()
	s.endLocked()
	s.problem = problem
	s.mu.Unlock()
	s.answerAll()
	close(s.lifecycle.ended)
	s.env.Router.Changed()
	s.settled()
}

// Settle ends the wait of the first list for the upstream.
func (s Simulation) Settle() { s.settled() }

// Share makes sessions share the upstream.
func (s Simulation) Share() { s.dedicated.caller.Store(nil) }

// Logs sets the level at which the server logs.
func (s Simulation) Logs(level string) { s.Feed.Assume(calls.ThresholdOf([]byte(level))) }
