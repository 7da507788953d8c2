package feed

import (
	"time"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/calls"
	"toolman/router/tracing"
)

// subscriptions are the notifications that toolman asks a server for. A modern server has one
// subscription to changes of its lists and one for each resource. A subscription cannot be changed,
// and replacing it would lose notifications, so the resources do not share one.
type subscriptions struct {
	lists uint64                   // ID of the open subscriptions/listen; 0: none
	uris  map[string]*subscription // resources that sessions subscribe to, by URI
	ended calls.Recent             // IDs of subscriptions that toolman has cancelled
}

// relistenDelay is how long after the server has ended a subscription toolman opens it again.
const relistenDelay = time.Second

// maxErrorText is how many bytes of a server's error are logged.
const maxErrorText = 2000

// Listen opens the missing subscriptions of a modern server.
func (f *Feed) Listen() {
	var out peer.Outgoing
	f.mu.Lock()
	if f.phase != gone && f.Source.Modern {
		if f.subscriptions.lists == 0 {
			f.listenLocked(&out)
		}
		for uri, r := range f.subscriptions.uris {
			if r.id == 0 {
				r.id = f.subscribe(uri, &out)
			}
		}
	}
	f.mu.Unlock()
	out.Flush()
}

// listenLocked opens the subscription to changes of the lists.
func (f *Feed) listenLocked(out *peer.Outgoing) {
	filter := mcpwire.Filter{
		ToolsListChanged:     f.Server.Result().OffersFlag("tools", "listChanged"),
		PromptsListChanged:   f.Server.Result().OffersFlag("prompts", "listChanged"),
		ResourcesListChanged: f.Server.Result().OffersFlag("resources", "listChanged"),
	}
	if string(filter.Append(nil)) != "{}" {
		f.subscriptions.lists = f.request(mcpwire.Listen, filter.AppendListen(nil, f.Server.Claim()), out)
	}
}

// ListenEnded handles the response to subscriptions/listen: the server has ended the subscription.
// It is opened again after relistenDelay, unless the server refused it or ended it at once.
func (f *Feed) ListenEnded(id uint64, c *calls.Call, m *jsonrpc.Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case m.Err.Present():
		f.Log.Warn("the server refuses to notify of changes", zap.ByteString("err", m.Bytes(m.Err)[:min(m.Err.Hi-m.Err.Lo, maxErrorText)]))
		return
	case f.Clock.Now()-c.SentAt < int64(relistenDelay):
		return
	case f.subscriptions.lists == id:
		f.subscriptions.lists = 0
	default:
		for _, r := range f.subscriptions.uris {
			if r.id == id {
				r.id = 0
			}
		}
	}
	time.AfterFunc(relistenDelay, f.Listen)
}

// EndedLate handles a response without a pending request. It reports whether the response is to a
// subscription that toolman has cancelled. Servers of the Go SDK (v1.8.0) send one, and then also
// drop the subscription to the lists. It is opened again, and the lists are read again.
func (f *Feed) EndedLate(id uint64, out *peer.Outgoing) bool {
	cancelled := f.subscriptions.ended.Has(id)
	if cancelled {
		f.reopenLists(out)
	}
	return cancelled
}

// reopenLists opens the subscription to changes of the lists again.
func (f *Feed) reopenLists(out *peer.Outgoing) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.phase != ready || f.subscriptions.lists == 0 {
		return
	}
	f.Calls.Forget(f.subscriptions.lists)
	f.listenLocked(out)
	go f.Server.ListsChanged(f.listChangedKinds()...)
}

// listChangedKinds returns the kinds for which the server declares listChanged.
func (f *Feed) listChangedKinds() []mcpwire.Kind {
	var kinds []mcpwire.Kind
	for k := range mcpwire.Kind(mcpwire.Kinds) {
		if f.Server.Result().OffersFlag(k.Capability(), "listChanged") {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// A subscription is a resource whose updates sessions want.
type subscription struct {
	id   uint64 // ID of the open subscriptions/listen of a modern server; 0: none
	want int    // number of sessions
}

// Subscribable reports whether the server notifies of resource updates.
func (f *Feed) Subscribable() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return (f.phase == ready || f.phase == recalled) && f.Server.Result().OffersFlag("resources", "subscribe")
}

// PassesSubscriptions reports whether subscribe and unsubscribe requests of a legacy client pass to
// the server unchanged. A modern server has no such methods. At a shared server one client must not
// end the subscription of another.
func (f *Feed) PassesSubscriptions() bool {
	return !f.Source.Modern && f.Server.Owned()
}

// UpdateSubscriptions replaces the resources that a session subscribes to, by URI: before is the
// old set, want the new one. The server gets a request only for the first session that wants a
// resource and after the last one.
func (f *Feed) UpdateSubscriptions(want, before map[string]bool, out *peer.Outgoing) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &f.subscriptions
	if s.uris == nil {
		s.uris = map[string]*subscription{}
	}
	for uri := range want {
		if !before[uri] {
			f.addSubscriptionLocked(uri, out)
		}
	}
	for uri := range before {
		if r := s.uris[uri]; r != nil && !want[uri] {
			if r.want--; r.want == 0 {
				delete(s.uris, uri)
				if f.phase == ready {
					f.unsubscribe(uri, r.id, out)
				}
			}
		}
	}
}

// addSubscriptionLocked counts one more session for a resource, and subscribes if it is the first.
func (f *Feed) addSubscriptionLocked(uri string, out *peer.Outgoing) {
	r := f.subscriptions.uris[uri]
	if r == nil {
		r = &subscription{}
		f.subscriptions.uris[uri] = r
		if f.phase == ready {
			r.id = f.subscribe(uri, out)
		}
	}
	r.want++
}

// subscribe asks the server for updates of a resource. It returns the ID of the subscription at a
// modern server, else 0.
func (f *Feed) subscribe(uri string, out *peer.Outgoing) (id uint64) {
	if !f.Source.Modern {
		f.RequestURI(mcpwire.Subscribe, uri, out)
		return 0
	}
	filter := mcpwire.Filter{ResourceSubscriptions: []string{uri}}
	return f.request(mcpwire.Listen, filter.AppendListen(nil, f.Server.Claim()), out)
}

// unsubscribe ends the subscription to a resource. id is what subscribe returned.
func (f *Feed) unsubscribe(uri string, id uint64, out *peer.Outgoing) {
	if !f.Source.Modern {
		f.RequestURI(mcpwire.Unsubscribe, uri, out)
		return
	}
	if _, open := f.Calls.Take(id); open {
		f.subscriptions.ended.Add(id)
		f.Server.SendFrame(out, calls.Cancellation(id, ""), tracing.Note{Method: mcpwire.Cancelled})
	}
}

// RequestURI sends a request whose only parameter is a URI. Its response is ignored.
func (f *Feed) RequestURI(method mcpwire.Method, uri string, out *peer.Outgoing) {
	params := jsonrpc.AppendQuoted([]byte(`{"uri":`), uri)
	f.request(method, append(params, '}'), out)
}
