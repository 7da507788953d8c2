package router

import (
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
)

// A LevelChange is a log level that several servers are asked for.
type LevelChange struct {
	left atomic.Int32             // servers that have not answered
	Done func(out *peer.Outgoing) // is called with the last answer
}

// Asked notes that one more has to answer.
func (l *LevelChange) Asked() { l.left.Add(1) }

// Answered notes that one has answered, and reports whether it was the last.
func (l *LevelChange) Answered() bool { return l.left.Add(-1) == 0 }

// takeQueuedLevels takes the changes of the log level that wait for the server to be ready.
func (u *Upstream) takeQueuedLevels() []*LevelChange {
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

// upstreamLogLevels are what clients want the server to log.
type upstreamLogLevels struct {
	pending map[uint64]*LevelChange // what waits for answers to logging/setLevel, by ID
	queued  []*LevelChange          // what waits for one of the session's own to be ready
	raised  LogThreshold            // what modern clients' requests have it log
}

// SetLevel passes the client's log level on, when the server logs. What waits for its answer
// may be nil. One that is shared logs what any client wants, and each hears no more than it wants.
func (u *Upstream) SetLevel(params []byte, want LogThreshold, l *LevelChange, out *peer.Outgoing) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if l != nil && u.state == Starting && u.private.replaces != nil {
		l.Asked()
		u.logLevels.queued = append(u.logLevels.queued, l)
	}
	if u.state != Ready || !u.offered.result.Offers("logging") || u.Source.Modern {
		return
	}
	if u.owner() == nil {
		if u.logLevels.raised != 0 && u.logLevels.raised <= want {
			return
		}
		u.logLevels.raised = want
	}
	u.levelLocked(params, l, out)
}

// levelLocked asks the server for a level. What waits for its answer may be nil.
func (u *Upstream) levelLocked(params []byte, l *LevelChange, out *peer.Outgoing) {
	id := u.ask(mcpwire.SetLevel, params, out)
	if l == nil || id == 0 {
		return
	}
	l.Asked()
	if u.logLevels.pending == nil {
		u.logLevels.pending = map[uint64]*LevelChange{}
	}
	u.logLevels.pending[id] = l
}

// needsMoreLogs reports whether a server that logs is to log more for what wants this.
func (u *Upstream) needsMoreLogs(want LogThreshold) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.logsLessLocked(want)
}

func (u *Upstream) logsLessLocked(want LogThreshold) bool {
	return want != 0 && (u.logLevels.raised == 0 || u.logLevels.raised > want) && u.state == Ready && u.offered.result.Offers("logging")
}

// raiseLogLevel makes a legacy server log what a modern client's call wants to hear. It goes on
// to do so: what is too much for other calls is dropped here. What waits for its answer
// may be nil.
func (u *Upstream) raiseLogLevel(want LogThreshold, l *LevelChange, out *peer.Outgoing) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.logsLessLocked(want) {
		return
	}
	u.logLevels.raised = want
	u.levelLocked(fmt.Appendf(nil, `{"level":%q}`, mcpwire.LevelName(int(want-1))), l, out)
}

// logged passes a log message on. It does not say whose call it belongs to: while
// several clients share the server, one gets it when no other has an open call there.
func (u *Upstream) logged(m *jsonrpc.Message, out *peer.Outgoing) {
	if owner := u.owner(); owner != nil && !u.private.many {
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

// leveled notes that the server has answered one of toolman's own logging/setLevel.
func (u *Upstream) leveled(id uint64, out *peer.Outgoing) {
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
	for _, l := range u.takeQueuedLevels() {
		if l.Answered() {
			l.Done(out)
		}
	}
	for _, id := range ids {
		u.leveled(id, out)
	}
}
