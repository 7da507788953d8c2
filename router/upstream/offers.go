package upstream

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
	"toolman/router/apps"
	"toolman/router/calls"
	"toolman/router/discovery"
	"toolman/router/tracing"
)

// handshake finds the era of the server and what it offers. If the era is not configured, it first
// tries the one that the server's items were pinned in, because some servers define items
// differently in each era. Without pins it tries the client's era, which needs the least
// translation.
func (u *Upstream) handshake(ctx context.Context) error {
	first := cmp.Or(u.Era, u.env.Router.Rules().Eras[u.Name], mcpwire.EraOf(u.greeting.client.Version))
	h := discovery.Handshake{Control: u.transport.control, Era: u.Era, First: first, Client: u.greeting.client, Claim: u.claim(), Info: u.env.info(),
		Started: u.lifecycle.startedAt, Probing: &u.greeting.probing}
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
	return u.transport.control.Notify(ctx, string(mcpwire.Initialized), nil)
}

// claim returns the metadata of toolman's own requests to modern servers. It declares the client's
// extensions, because servers may list other items for a client with an extension.
func (u *Upstream) claim() *mcpwire.Claim {
	return mcpwire.NewClaim(apps.ExtensionsOf(u.greeting.client.Capabilities), u.env.info(), "")
}

// read reads lists of the server.
func (u *Upstream) read(ctx context.Context, kinds []mcpwire.Kind) error {
	u.mu.Lock()
	s := &discovery.Server{Control: u.transport.control, Result: u.offered.result, Claim: u.claim()}
	u.mu.Unlock()
	return u.lists.Read(ctx, s, kinds)
}

// changed marks lists of the server as changed, and starts refresh unless it runs already.
func (u *Upstream) changed(kinds ...mcpwire.Kind) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, k := range kinds {
		u.Results.Drop()
		u.offered.stale[k] = true
	}
	if u.state != Ready || u.offered.refreshing || u.offered.stale == ([mcpwire.Kinds]bool{}) {
		return
	}
	u.offered.refreshing = true
	go u.refresh()
}

// debounce is how long toolman waits after a change of a list for more changes, to read them
// together.
const debounce = 50 * time.Millisecond

// refresh reads changed lists until there are none.
func (u *Upstream) refresh() {
	for {
		select {
		case <-time.After(debounce):
		case <-u.lifecycle.ended:
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

// subscriptions are the notifications that toolman asks an upstream for. A modern server has one
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
func (u *Upstream) Listen() {
	var out peer.Outgoing
	u.mu.Lock()
	if u.state != Gone && u.Source.Modern {
		if u.subscriptions.lists == 0 {
			u.listenLocked(&out)
		}
		for uri, r := range u.subscriptions.uris {
			if r.id == 0 {
				r.id = u.subscribe(uri, &out)
			}
		}
	}
	u.mu.Unlock()
	out.Flush()
}

// listenLocked opens the subscription to changes of the lists.
func (u *Upstream) listenLocked(out *peer.Outgoing) {
	filter := mcpwire.Filter{
		ToolsListChanged:     u.offered.result.OffersFlag("tools", "listChanged"),
		PromptsListChanged:   u.offered.result.OffersFlag("prompts", "listChanged"),
		ResourcesListChanged: u.offered.result.OffersFlag("resources", "listChanged"),
	}
	if string(filter.Append(nil)) != "{}" {
		u.subscriptions.lists = u.request(mcpwire.Listen, filter.AppendListen(nil, u.claim()), out)
	}
}

// listenEnded handles the response to subscriptions/listen: the server has ended the subscription.
// It is opened again after relistenDelay, unless the server refused it or ended it at once.
func (u *Upstream) listenEnded(id uint64, c *calls.Call, m *jsonrpc.Message) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case m.Err.Present():
		u.Log.Warn("the server refuses to notify of changes", zap.ByteString("err", m.Bytes(m.Err)[:min(m.Err.Hi-m.Err.Lo, maxErrorText)]))
		return
	case u.env.Clock.Now()-c.SentAt < int64(relistenDelay):
		return
	case u.subscriptions.lists == id:
		u.subscriptions.lists = 0
	default:
		for _, r := range u.subscriptions.uris {
			if r.id == id {
				r.id = 0
			}
		}
	}
	time.AfterFunc(relistenDelay, u.Listen)
}

// reopenListsSubscription is called when the server responds to a subscription that toolman has
// cancelled. Servers of the Go SDK (v1.8.0) do so, and then also drop the subscription to the
// lists. It is opened again, and the lists are read again.
func (u *Upstream) reopenListsSubscription(out *peer.Outgoing) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.state != Ready || u.subscriptions.lists == 0 {
		return
	}
	u.Calls.Forget(u.subscriptions.lists)
	u.listenLocked(out)
	go u.changed(u.listChangedKinds()...)
}

// listChangedKinds returns the kinds for which the server declares listChanged.
func (u *Upstream) listChangedKinds() []mcpwire.Kind {
	var kinds []mcpwire.Kind
	for k := range mcpwire.Kind(mcpwire.Kinds) {
		if u.offered.result.OffersFlag(k.Capability(), "listChanged") {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// request sends a request of toolman's own and returns its ID, or 0 if the upstream is gone. The
// caller does not wait for the response.
func (u *Upstream) request(method mcpwire.Method, params []byte, out *peer.Outgoing) (id uint64) {
	n := u.env.Trace.Next()
	id, ok := u.Calls.Add(calls.Call{Method: method, TraceID: n, SentAt: u.env.Clock.Now()})
	if !ok {
		return 0
	}
	frame := []byte(`{"jsonrpc":"2.0","id":`)
	frame = strconv.AppendUint(frame, id, 10)
	frame = append(append(append(frame, `,"method":"`...), method...), `","params":`...)
	u.SendFrame(out, append(append(frame, params...), '}'), tracing.Note{ID: n, Method: method})
	return id
}

// A subscription is a resource whose updates sessions want.
type subscription struct {
	id   uint64 // ID of the open subscriptions/listen of a modern server; 0: none
	want int    // number of sessions
}

// Subscribable reports whether the server notifies of resource updates.
func (u *Upstream) Subscribable() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.state == Ready && u.offered.result.OffersFlag("resources", "subscribe")
}

// PassesSubscriptions reports whether subscribe and unsubscribe requests of a legacy client pass to
// the server unchanged. A modern server has no such methods. At a shared server one client must not
// end the subscription of another.
func (u *Upstream) PassesSubscriptions() bool {
	return !u.Source.Modern && u.Owner() != nil
}

// UpdateSubscriptions replaces the resources that a session subscribes to, by URI: before is the
// old set, want the new one. The server gets a request only for the first session that wants a
// resource and after the last one.
func (u *Upstream) UpdateSubscriptions(want, before map[string]bool, out *peer.Outgoing) {
	u.mu.Lock()
	defer u.mu.Unlock()
	f := &u.subscriptions
	if f.uris == nil {
		f.uris = map[string]*subscription{}
	}
	for uri := range want {
		if !before[uri] {
			u.addSubscriptionLocked(uri, out)
		}
	}
	for uri := range before {
		if r := f.uris[uri]; r != nil && !want[uri] {
			if r.want--; r.want == 0 {
				delete(f.uris, uri)
				if u.state == Ready {
					u.unsubscribe(uri, r.id, out)
				}
			}
		}
	}
}

// addSubscriptionLocked counts one more session for a resource, and subscribes if it is the first.
func (u *Upstream) addSubscriptionLocked(uri string, out *peer.Outgoing) {
	r := u.subscriptions.uris[uri]
	if r == nil {
		r = &subscription{}
		u.subscriptions.uris[uri] = r
		if u.state == Ready {
			r.id = u.subscribe(uri, out)
		}
	}
	r.want++
}

// subscribe asks the server for updates of a resource. It returns the ID of the subscription at a
// modern server, else 0.
func (u *Upstream) subscribe(uri string, out *peer.Outgoing) (id uint64) {
	if !u.Source.Modern {
		u.RequestURI(mcpwire.Subscribe, uri, out)
		return 0
	}
	filter := mcpwire.Filter{ResourceSubscriptions: []string{uri}}
	return u.request(mcpwire.Listen, filter.AppendListen(nil, u.claim()), out)
}

// unsubscribe ends the subscription to a resource. id is what subscribe returned.
func (u *Upstream) unsubscribe(uri string, id uint64, out *peer.Outgoing) {
	if !u.Source.Modern {
		u.RequestURI(mcpwire.Unsubscribe, uri, out)
		return
	}
	if _, open := u.Calls.Take(id); open {
		u.subscriptions.ended.Add(id)
		u.SendFrame(out, calls.Cancellation(id, ""), tracing.Note{Method: mcpwire.Cancelled})
	}
}

// RequestURI sends a request whose only parameter is a URI. Its response is ignored.
func (u *Upstream) RequestURI(method mcpwire.Method, uri string, out *peer.Outgoing) {
	params := jsonrpc.AppendQuoted([]byte(`{"uri":`), uri)
	u.request(method, append(params, '}'), out)
}
