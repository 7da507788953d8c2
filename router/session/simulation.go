package session

import (
	"context"

	"toolman/jsonrpc"
	"toolman/router/client"
	"toolman/router/input"
	"toolman/router/view"
)

// A Simulation gives tests of other packages access to the inside of a session.
type Simulation struct{ s *Session }

// Simulate returns the simulation of a session.
func Simulate(s *Session) Simulation { return Simulation{s} }

// Held contains the numbers of items that a session keeps.
type Held struct {
	input.Held
	Deferred      int // requests that wait for servers
	Replies       int // replies that wait until the client has listed the tools again
	Subscriptions int
	Tasks         int
}

// Held returns the current numbers.
func (x Simulation) Held() Held {
	s := x.s
	return Held{s.input.Held(), s.waiting.Deferred(), s.own.Replies(), s.subscriptions.Len(), s.tasks.Len()}
}

// Expiry returns the function that ends the wait of the oldest reply.
func (x Simulation) Expiry() func() { return x.s.own.Expiry() }

// TakesLastRoute reports whether the cached route applies to a request.
func (x Simulation) TakesLastRoute(m *jsonrpc.Message) bool {
	_, same := x.s.cachedRouteLocked(&client.Request{Message: m})
	return same
}

// AwaitServer makes requests wait for a dedicated server.
func (x Simulation) AwaitServer() { x.s.servers.Awaited = 1 }

// Occupy makes requests wait for a background task.
func (x Simulation) Occupy() {
	x.s.waiting.RunInBackground(x.ping(), func(ctx context.Context) client.Completion {
		<-ctx.Done()
		return func(*client.Request) {}
	})
}

// Defer adds a deferred request.
func (x Simulation) Defer() { x.s.waiting.Add(x.ping()) }

// ping returns a request.
func (x Simulation) ping() *client.Request {
	req, _ := client.ReadRequest([]byte(`{"jsonrpc":"2.0","id":0,"method":"ping"}`), nil)
	return req
}

// Variant returns the variant of the client's lists.
func (x Simulation) Variant(modern bool) view.Variant { return x.s.own.Variant(modern) }

// OwnTools returns the definitions of toolman's own tools.
func (x Simulation) OwnTools(v *view.View, as view.Variant) []byte {
	return x.s.own.Definitions().Tools(v, as)
}

// Instructions returns the instructions that the client receives.
func (x Simulation) Instructions(modern bool) string { return x.s.own.Instructions(modern) }
