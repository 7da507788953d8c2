package upstream

import (
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/calls"
)

// A LevelChange is a change of the log level that waits for the responses of several servers.
type LevelChange struct {
	left atomic.Int32             // servers that have not answered
	Done func(out *peer.Outgoing) // is called after the last response
}

// Asked counts one more server that has to respond.
func (l *LevelChange) Asked() { l.left.Add(1) }

// Answered counts a response, and reports whether it was the last.
func (l *LevelChange) Answered() bool { return l.left.Add(-1) == 0 }

// logLevels are the log levels that toolman has set at the server.
type logLevels struct {
	pending map[uint64]*LevelChange // waiting for the response to logging/setLevel, by its ID
	queued  []*LevelChange          // waiting for a dedicated upstream to be ready
	raised  calls.LogThreshold      // threshold set for modern requests or several clients; 0: none
}

// SetLevel sends the client's log level to the server, if the server is ready, of the legacy era
// and logs. l is told when the server has responded, and may be nil. A shared server gets the
// lowest level that any client wants; messages below the level of a client are not passed to it.
func (u *Upstream) SetLevel(params []byte, want calls.LogThreshold, l *LevelChange, out *peer.Outgoing) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if l != nil && u.state == Starting && u.Shared() != nil {
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

// TakeQueuedLevels removes and returns the level changes that wait for the upstream to be ready.
func (u *Upstream) TakeQueuedLevels() []*LevelChange {
	u.mu.Lock()
	defer u.mu.Unlock()
	queued := u.logLevels.queued
	u.logLevels.queued = nil
	return queued
}

// RaiseLogLevel makes a legacy server log what a modern client's request wants. The server keeps
// the level: toolman drops messages that other calls do not want. RaiseLogLevel reports whether the
// server got a request; l is told of its response, and may be nil.
func (u *Upstream) RaiseLogLevel(want calls.LogThreshold, l *LevelChange, out *peer.Outgoing) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.needsMoreLogsLocked(want) {
		return false
	}
	u.logLevels.raised = want
	return u.requestLevelLocked(fmt.Appendf(nil, `{"level":%q}`, mcpwire.LevelName(int(want-1))), l, out)
}

// NeedsMoreLogs reports whether RaiseLogLevel with this threshold would send a request.
func (u *Upstream) NeedsMoreLogs(want calls.LogThreshold) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.needsMoreLogsLocked(want)
}

// needsMoreLogsLocked is NeedsMoreLogs; mu is held.
func (u *Upstream) needsMoreLogsLocked(want calls.LogThreshold) bool {
	return want != 0 && (u.logLevels.raised == 0 || u.logLevels.raised > want) && u.state == Ready && u.offered.result.Offers("logging")
}

// requestLevelLocked sends logging/setLevel, and reports whether it could. l may be nil.
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

// levelAnswered handles the response to a logging/setLevel of toolman's own.
func (u *Upstream) levelAnswered(id uint64, out *peer.Outgoing) {
	u.mu.Lock()
	l := u.logLevels.pending[id]
	delete(u.logLevels.pending, id)
	u.mu.Unlock()
	if l != nil && l.Answered() {
		l.Done(out)
	}
}

// endPendingLogLevels ends the wait for responses, because the server sends no more.
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

// logMessage passes a log message on. The message does not name its call. At a server with several
// clients, a client gets it only if its call is the only one pending there.
func (u *Upstream) logMessage(m *jsonrpc.Message, out *peer.Outgoing) {
	if owner := u.Owner(); owner != nil && !u.dedicated.many {
		owner.Notify(u, m, out)
		return
	}
	var open []calls.Call
	u.Calls.EachCall(func(_ uint64, c calls.Call) {
		if c.Caller != nil {
			open = append(open, c)
		}
	})
	if len(open) == 1 {
		open[0].Caller.Logged(open[0], m, out)
	}
}
