package upstream

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/tracing"
)

// relistenDelay is how long after a server has ended a subscription it is asked again.
const relistenDelay = time.Second

// maxErrorText is how many bytes of a server's error are logged.
const maxErrorText = 2000

// A subscriptions is what toolman hears of an upstream. Modern servers are asked on one
// subscription for the lists and on one for each resource: none of them can be changed,
// and opened anew it would be deaf in between.
type subscriptions struct {
	lists uint64                   // id of the open subscriptions/listen; 0: none
	uris  map[string]*subscription // resources that sessions want to hear of
	ended jsonrpc.Recent           // ids of those that toolman has cancelled
}

// A subscription resource is one that the server is to tell of.
type subscription struct {
	id   uint64 // of a modern server: of the open subscriptions/listen; 0: none
	want int    // sessions
}

// Subscribable reports whether the server tells of changes of resources.
func (u *Upstream) Subscribable() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.state == Ready && u.offered.result.OffersFlag("resources", "subscribe")
}

// PassesSubscriptions reports whether the subscriptions of a legacy client pass to the
// server as they are. A modern one has no such methods, and at one that is shared nobody
// may end what another wants.
func (u *Upstream) PassesSubscriptions() bool {
	return !u.Source.Modern && u.Owner() != nil
}

// UpdateSubscriptions notes that a session wants to hear of these resources of the upstream, and no
// longer of those it wanted before. It subscribes to what the first one wants, and
// ends what nobody does any more.
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

// subscribe asks the server to tell of changes of a resource, and returns the id of that.
func (u *Upstream) subscribe(uri string, out *peer.Outgoing) (id uint64) {
	if !u.Source.Modern {
		u.RequestURI(mcpwire.Subscribe, uri, out)
		return 0
	}
	filter := mcpwire.Filter{ResourceSubscriptions: []string{uri}}
	return u.request(mcpwire.Listen, filter.AppendListen(nil, u.env.claim()), out)
}

func (u *Upstream) unsubscribe(uri string, id uint64, out *peer.Outgoing) {
	if !u.Source.Modern {
		u.RequestURI(mcpwire.Unsubscribe, uri, out)
		return
	}
	if _, open := u.pending.calls.Take(id); open {
		u.subscriptions.ended.Add(id)
		params := strconv.AppendUint([]byte(`{"requestId":`), id, 10)
		u.SendFrame(out, jsonrpc.AppendNotification(nil, string(mcpwire.Cancelled), append(params, '}')), tracing.Note{Method: mcpwire.Cancelled})
	}
}

// RequestURI makes a request whose answer nobody waits for.
func (u *Upstream) RequestURI(method mcpwire.Method, uri string, out *peer.Outgoing) {
	params := jsonrpc.AppendQuoted([]byte(`{"uri":`), uri)
	u.request(method, append(params, '}'), out)
}

// request makes a request of toolman's own whose answer nobody waits for.
func (u *Upstream) request(method mcpwire.Method, params []byte, out *peer.Outgoing) (id uint64) {
	n := u.env.Trace.Next()
	id, ok := u.pending.calls.Add(Call{Method: method, TraceID: n, Sent: u.env.Clock.Now()})
	if !ok {
		return 0
	}
	frame := []byte(`{"jsonrpc":"2.0","id":`)
	frame = strconv.AppendUint(frame, id, 10)
	frame = append(append(append(frame, `,"method":"`...), method...), `","params":`...)
	u.SendFrame(out, append(append(frame, params...), '}'), tracing.Note{ID: n, Method: method})
	return id
}

// Listen opens the subscriptions that a modern server should have and has not.
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

// listenLocked opens the subscription to the lists.
func (u *Upstream) listenLocked(out *peer.Outgoing) {
	filter := mcpwire.Filter{
		ToolsListChanged:     u.offered.result.OffersFlag("tools", "listChanged"),
		PromptsListChanged:   u.offered.result.OffersFlag("prompts", "listChanged"),
		ResourcesListChanged: u.offered.result.OffersFlag("resources", "listChanged"),
	}
	if string(filter.Append(nil)) != "{}" {
		u.subscriptions.lists = u.request(mcpwire.Listen, filter.AppendListen(nil, u.env.claim()), out)
	}
}

// listChangedKinds are the kinds whose changes the server tells of.
func (u *Upstream) listChangedKinds() []mcpwire.Kind {
	var kinds []mcpwire.Kind
	for k := range mcpwire.Kind(mcpwire.Kinds) {
		if u.offered.result.OffersFlag(k.Capability(), "listChanged") {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// listenEnded notes that the server has ended a subscription, and opens it again; one
// that it does not let stand is left.
func (u *Upstream) listenEnded(id uint64, c *Call, m *jsonrpc.Message) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case m.Err.Present():
		u.Log.Warn("the server does not say when something changes", zap.ByteString("err", m.Bytes(m.Err)[:min(m.Err.Hi-m.Err.Lo, maxErrorText)]))
		return
	case u.env.Clock.Now()-c.Sent < int64(relistenDelay):
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

// reopenListsSubscription is called when a subscription that toolman has cancelled is answered all the
// same. That is the way of the Go SDK's servers, which then forget the one to the lists
// as well (v1.8.0). It is opened again; what has changed in between is read.
func (u *Upstream) reopenListsSubscription(out *peer.Outgoing) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.state != Ready || u.subscriptions.lists == 0 {
		return
	}
	u.pending.calls.Take(u.subscriptions.lists)
	u.pending.late.Add(u.subscriptions.lists)
	u.listenLocked(out)
	go u.changed(u.listChangedKinds()...)
}

// A LevelChange is a log level that several servers are asked for.
type LevelChange struct {
	left atomic.Int32             // servers that have not answered
	Done func(out *peer.Outgoing) // is called with the last answer
}

// Asked notes that one more has to answer.
func (l *LevelChange) Asked() { l.left.Add(1) }

// Answered notes that one has answered, and reports whether it was the last.
func (l *LevelChange) Answered() bool { return l.left.Add(-1) == 0 }

// TakeQueuedLevels takes the changes of the log level that wait for the server to be ready.
func (u *Upstream) TakeQueuedLevels() []*LevelChange {
	u.mu.Lock()
	defer u.mu.Unlock()
	queued := u.logLevels.queued
	u.logLevels.queued = nil
	return queued
}

// LogThreshold is a log level as a call remembers it: 0 for none, and the more the
// less is wanted.
type LogThreshold uint8

func ThresholdOf(level []byte) LogThreshold {
	rank, ok := mcpwire.LevelRank(level)
	if !ok {
		return 0
	}
	return LogThreshold(rank + 1)
}

// logLevels are what clients want the server to log.
type logLevels struct {
	pending map[uint64]*LevelChange // what waits for answers to logging/setLevel, by ID
	queued  []*LevelChange          // what waits for one of the session's own to be ready
	raised  LogThreshold            // what modern clients' requests have it log
}

// SetLevel passes the client's log level on, when the server logs. What waits for its answer
// may be nil. One that is shared logs what any client wants, and each hears no more than it wants.
func (u *Upstream) SetLevel(params []byte, want LogThreshold, l *LevelChange, out *peer.Outgoing) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if l != nil && u.state == Starting && u.dedicated.replaces != nil {
		l.Asked()
		u.logLevels.queued = append(u.logLevels.queued, l)
	}
	if u.state != Ready || !u.offered.result.Offers("logging") || u.Source.Modern {
		return
	}
	if u.Owner() == nil {
		if u.logLevels.raised != 0 && u.logLevels.raised <= want {
			return
		}
		u.logLevels.raised = want
	}
	u.requestLevelLocked(params, l, out)
}

// requestLevelLocked asks the server for a level, and reports whether that could be done. What waits for its
// answer may be nil.
func (u *Upstream) requestLevelLocked(params []byte, l *LevelChange, out *peer.Outgoing) bool {
	id := u.request(mcpwire.SetLevel, params, out)
	if l == nil || id == 0 {
		return id != 0
	}
	l.Asked()
	if u.logLevels.pending == nil {
		u.logLevels.pending = map[uint64]*LevelChange{}
	}
	u.logLevels.pending[id] = l
	return true
}

// NeedsMoreLogs reports whether a server that logs is to log more for what wants this.
func (u *Upstream) NeedsMoreLogs(want LogThreshold) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.needsMoreLogsLocked(want)
}

func (u *Upstream) needsMoreLogsLocked(want LogThreshold) bool {
	return want != 0 && (u.logLevels.raised == 0 || u.logLevels.raised > want) && u.state == Ready && u.offered.result.Offers("logging")
}

// RaiseLogLevel makes a legacy server log what a modern client's call wants to hear. It goes on
// to do so: what is too much for other calls is dropped here. It reports whether the server was asked;
// what waits for its answer may be nil.
func (u *Upstream) RaiseLogLevel(want LogThreshold, l *LevelChange, out *peer.Outgoing) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.needsMoreLogsLocked(want) {
		return false
	}
	u.logLevels.raised = want
	return u.requestLevelLocked(fmt.Appendf(nil, `{"level":%q}`, mcpwire.LevelName(int(want-1))), l, out)
}

// logMessage passes a log message on. It does not say whose call it belongs to: while
// several clients share the server, one gets it when no other has an open call there.
func (u *Upstream) logMessage(m *jsonrpc.Message, out *peer.Outgoing) {
	if owner := u.Owner(); owner != nil && !u.dedicated.many {
		owner.Notify(u, m, out)
		return
	}
	var open []Call
	u.pending.calls.Each(func(_ uint64, c Call) {
		if c.Caller != nil {
			open = append(open, c)
		}
	})
	if len(open) == 1 {
		open[0].Caller.Logged(open[0], m, out)
	}
}

// levelAnswered notes that the server has answered one of toolman's own logging/setLevel.
func (u *Upstream) levelAnswered(id uint64, out *peer.Outgoing) {
	u.mu.Lock()
	l := u.logLevels.pending[id]
	delete(u.logLevels.pending, id)
	u.mu.Unlock()
	if l != nil && l.Answered() {
		l.Done(out)
	}
}

// endPendingLogLevels notes that the server will answer nothing more.
func (u *Upstream) endPendingLogLevels(out *peer.Outgoing) {
	u.mu.Lock()
	ids := slices.Collect(maps.Keys(u.logLevels.pending))
	u.mu.Unlock()
	for _, l := range u.TakeQueuedLevels() {
		if l.Answered() {
			l.Done(out)
		}
	}
	for _, id := range ids {
		u.levelAnswered(id, out)
	}
}
