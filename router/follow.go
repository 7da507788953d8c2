package router

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// relisten is how long after a server has ended a subscription it is asked again.
const relisten = time.Second

// A following is what toolman hears of an upstream.
type following struct {
	uris   map[string]bool
	listen uint64 // id of the open subscriptions/listen; 0: none
}

// subscribable reports whether the server tells of changes of resources.
func (u *Upstream) subscribable() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.state == Ready && u.result.OffersFlag("resources", "subscribe")
}

// follow subscribes to these resources of the upstream, and to no others.
func (u *Upstream) follow(uris map[string]bool, b *jsonrpc.Batch) {
	u.mu.Lock()
	defer u.mu.Unlock()
	before := u.following.uris
	if u.state != Ready || maps.Equal(before, uris) {
		return
	}
	u.following.uris = uris
	if u.modern {
		u.listenLocked(b)
		return
	}
	for uri := range uris {
		if !before[uri] {
			u.tellURI(mcpwire.Subscribe, uri, b)
		}
	}
	for uri := range before {
		if !uris[uri] {
			u.tellURI(mcpwire.Unsubscribe, uri, b)
		}
	}
}

// tellURI makes a request whose answer nobody waits for.
func (u *Upstream) tellURI(method mcpwire.Method, uri string, b *jsonrpc.Batch) {
	params := jsonrpc.AppendQuoted([]byte(`{"uri":`), uri)
	u.ask(method, append(params, '}'), b)
}

// ask makes a request of toolman's own whose answer nobody waits for.
func (u *Upstream) ask(method mcpwire.Method, params []byte, b *jsonrpc.Batch) (id uint64) {
	n := u.r.trace.next()
	id, ok := u.calls.Add(call{method: method, n: n, sent: u.r.clock.now()})
	if !ok {
		return 0
	}
	frame := []byte(`{"jsonrpc":"2.0","id":`)
	frame = strconv.AppendUint(frame, id, 10)
	frame = append(append(append(frame, `,"method":"`...), method...), `","params":`...)
	u.sendFrame(b, append(append(frame, params...), '}'), note{n: n, method: method})
	return id
}

// listen opens the subscription that a modern server tells of its changes on.
func (u *Upstream) listen() {
	var b jsonrpc.Batch
	u.mu.Lock()
	if u.state == Ready && u.modern && u.following.listen == 0 {
		u.listenLocked(&b)
	}
	u.mu.Unlock()
	b.Flush()
}

// listenLocked opens a subscription to all that is wanted. There is none that could be
// changed: the one before is ended first, because the Go SDK's servers confuse two
// (v1.8.0: the end of one silences the other). What changes in between is read again.
func (u *Upstream) listenLocked(b *jsonrpc.Batch) {
	if before := u.following.listen; before != 0 {
		u.calls.Take(before)
		u.late.add(before)
		params := strconv.AppendUint([]byte(`{"requestId":`), before, 10)
		u.sendFrame(b, jsonrpc.AppendNotification(nil, string(mcpwire.Cancelled), append(params, '}')), note{method: mcpwire.Cancelled})
		go u.changed(u.announced()...)
	}
	filter := mcpwire.Filter{
		ToolsListChanged:      u.result.OffersFlag("tools", "listChanged"),
		PromptsListChanged:    u.result.OffersFlag("prompts", "listChanged"),
		ResourcesListChanged:  u.result.OffersFlag("resources", "listChanged"),
		ResourceSubscriptions: slices.Sorted(maps.Keys(u.following.uris)),
	}
	u.following.listen = 0
	if string(filter.Append(nil)) != "{}" {
		u.following.listen = u.ask(mcpwire.Listen, filter.AppendListen(nil, u.r.claim()), b)
	}
}

// announced are the kinds whose changes the server tells of.
func (u *Upstream) announced() []mcpwire.Kind {
	var kinds []mcpwire.Kind
	for k := range mcpwire.Kind(mcpwire.Kinds) {
		if u.result.OffersFlag(k.Capability(), "listChanged") {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// listenEnded notes that the server has ended a subscription, and opens it again.
func (u *Upstream) listenEnded(id uint64, m *jsonrpc.Message) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.following.listen != id {
		return
	}
	u.following.listen = 0
	if m.Err.Present() {
		u.log.Warn("the server does not say when something changes", zap.ByteString("err", m.Bytes(m.Err)[:min(m.Err.Hi-m.Err.Lo, maxSaid)]))
		return
	}
	time.AfterFunc(relisten, u.listen)
}

// claim is what toolman says of itself in its own requests to modern servers.
func (r *Router) claim() *mcpwire.Claim { return mcpwire.NewClaim(nil, r.info(), "") }

// info is toolman's Implementation object.
func (r *Router) info() []byte {
	return append(jsonrpc.AppendQuoted([]byte(`{"name":"toolman","version":`), r.Version), '}')
}
