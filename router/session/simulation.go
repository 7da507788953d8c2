package session

import (
	"toolman/jsonrpc"
	"toolman/router/client"
	"toolman/router/input"
	"toolman/router/metatool"
	"toolman/router/view"
)

// A Simulation looks into a session, for tests of what uses sessions.
type Simulation struct{ s *Session }

// Simulate returns the simulation of a session.
func Simulate(s *Session) Simulation { return Simulation{s} }

// Held says how much a session keeps.
type Held struct {
	input.Held
	Deferred      int // requests that wait for servers
	Replies       int // that wait until the client has listed again
	Subscriptions int
	Tasks         int
}

// Held returns how much the session keeps now.
func (x Simulation) Held() Held {
	s := x.s
	return Held{s.input.Held(), len(s.waiting.deferred), len(s.waiting.replies), s.subscriptions.Len(), s.tasks.Len()}
}

// Expiry returns what ends the wait of the oldest reply.
func (x Simulation) Expiry() func() {
	h := x.s.waiting.replies[0]
	return func() { x.s.expire(h) }
}

// TakesLastRoute reports whether a request takes the route of the last one.
func (x Simulation) TakesLastRoute(m *jsonrpc.Message) bool {
	_, same := x.s.cachedRouteLocked(&client.Request{Message: m})
	return same
}

// AwaitServer has requests wait for a server of the session's own.
func (x Simulation) AwaitServer() { x.s.servers.Awaited = 1 }

// Occupy has requests wait for something that is done in the background.
func (x Simulation) Occupy() { x.s.waiting.background = &backgroundTask{} }

// Defer has a request wait.
func (x Simulation) Defer() { x.s.waiting.deferred = make([]client.Deferred, 1) }

// Variant is how lists are rendered for the client.
func (x Simulation) Variant(modern bool) view.Variant { return x.s.variantLocked(modern) }

// OwnTools are the definitions of toolman's own tools.
func (x Simulation) OwnTools(v *view.View, as view.Variant) []byte {
	return x.s.definitions().Tools(v, as)
}

// Instructions are what the client is told of toolman's own tools.
func (x Simulation) Instructions(modern bool) string {
	return metatool.Instructions(x.s.modeOf(modern), x.s.builtin.offers)
}
