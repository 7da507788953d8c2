package upstream

import (
	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/router/audit"
	"toolman/router/principal"
)

// A Caller makes calls to upstreams and hears what comes of them. It is a session, as its upstreams
// know it. Calls come by value: a call whose address is taken here would be made on the heap.
type Caller interface {
	// Principal is in whose share of an upstream's limit the calls count.
	Principal() principal.Principal
	// Answer takes the upstream's answer to a call, which had this id there.
	Answer(u *Upstream, id uint64, c Call, m *jsonrpc.Message, out *peer.Outgoing)
	// Unsent answers a call that was not written to its upstream.
	Unsent(c Call, problem string, how audit.Outcome, out *peer.Outgoing)
	// Lost answers a call that its upstream does not answer.
	Lost(c Call, problem string, how audit.Outcome, out *peer.Outgoing)
	// Progress passes on progress of a call, whose token is at this place of the message. It
	// reports whether the client wants to hear of it.
	Progress(c Call, at jsonrpc.Span, m *jsonrpc.Message, out *peer.Outgoing) bool
	// TaskProgress passes on progress of a call that has become a task; it had this id.
	TaskProgress(u *Upstream, id uint64, at jsonrpc.Span, m *jsonrpc.Message, out *peer.Outgoing)
	// Logged passes on a log message of a shared upstream, whose only open call this is.
	Logged(c Call, m *jsonrpc.Message, out *peer.Outgoing)
	// Notify passes on any other notification.
	Notify(u *Upstream, m *jsonrpc.Message, out *peer.Outgoing)
	// Request passes on a request of the upstream, which has this correlation number.
	Request(u *Upstream, m *jsonrpc.Message, n uint64, out *peer.Outgoing)
	// Cancel takes back a request of the upstream.
	Cancel(u *Upstream, m *jsonrpc.Message, out *peer.Outgoing)
	// Withdraw takes back all requests of an upstream that is gone.
	Withdraw(u *Upstream, out *peer.Outgoing)
	// Ready is called when an upstream is ready, before calls that wait for it are written.
	Ready(u *Upstream)
	// Refresh shows the client what an upstream of its own offers now.
	Refresh()
	// Reconnect has an upstream of the caller's own that is gone replaced.
	Reconnect(u *Upstream)
}
