package upstream

import (
	"context"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/limiter"
)

// A Simulation is an upstream without a connection: a test does in its place what a server would. It is
// for tests of the packages that use upstreams.
type Simulation struct{ *Upstream }

// Simulate returns the simulation of an upstream.
func Simulate(u *Upstream) Simulation { return Simulation{u} }

// Connect has the server be sent frames by out.
func (s Simulation) Connect(out peer.Sender) { s.pipe.out = out }

// Converse has toolman's own requests to the server be sent by send, until end is called.
func (s Simulation) Converse(send func(frame []byte) error) (end func()) {
	s.pipe.control = jsonrpc.NewControl(send, controlIDs{s.Upstream})
	return s.pipe.control.Close
}

// Prepare does the handshake and reads the lists, as if the server had just been started.
func (s Simulation) Prepare(ctx context.Context) error {
	s.life.startedAt = time.Now()
	return s.prepare(ctx)
}

// Read reads lists of the server.
func (s Simulation) Read(ctx context.Context, kinds []mcpwire.Kind) error { return s.read(ctx, kinds) }

// List sets what the server offers of a kind.
func (s Simulation) List(k mcpwire.Kind, items []mcpwire.Item) { s.lists.Keep(k, items) }

// Entries are what the server offers of a kind.
func (s Simulation) Entries(k mcpwire.Kind) []*catalog.Entry { return s.lists.Entries()[k] }

// Result is what the server said in its handshake. The caller may change it while nothing else runs.
func (s Simulation) Result() *mcpwire.InitializeResult { return &s.offered.result }

// Ready has the server be ready, with what it said in its handshake.
func (s Simulation) Ready(took time.Duration, result mcpwire.InitializeResult) {
	s.Source.Modern = mcpwire.EraOf(result.ProtocolVersion) == mcpwire.Modern
	s.mu.Lock()
	s.offered.result = result
	s.mu.Unlock()
	s.becomeReady(took)
}

// IgnoreChanges has the lists of the server not be read again when they change.
func (s Simulation) IgnoreChanges() { s.offered.refreshing = true }

// Lose answers all calls as if the server had gone.
func (s Simulation) Lose() { s.answerAll() }

// End has the server be gone, as if its process had ended.
func (s Simulation) End(problem string) {
	s.mu.Lock()
	s.state, s.problem = Gone, problem
	s.mu.Unlock()
	s.answerAll()
	close(s.life.ended)
	s.env.Router.Changed()
	s.settled()
}

// Settle has nobody wait for the server any more.
func (s Simulation) Settle() { s.settled() }

// Calls is how many requests the server has not answered.
func (s Simulation) Calls() int { return s.pending.calls.Len() }

// Limiter admits calls to the server; nil: it has no limit.
func (s Simulation) Limiter() *limiter.Limiter[queuedCall] { return s.pending.limiter }

// Share has sessions share the server.
func (s Simulation) Share() { s.dedicated.caller.Store(nil) }

// Logs has the server log as much as this level wants.
func (s Simulation) Logs(level string) { s.logLevels.raised = ThresholdOf([]byte(level)) }
