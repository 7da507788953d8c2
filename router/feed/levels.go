package feed

import (
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

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

// levels are the log levels that toolman has set at the server.
type levels struct {
	pending map[uint64]*LevelChange // waiting for the response to logging/setLevel, by its ID
	queued  []*LevelChange          // waiting for a dedicated server to be ready
	raised  calls.LogThreshold      // threshold set for modern requests or several clients; 0: none
}

// SetLevel sends the client's log level to the server, if the server is ready, of the legacy era
// and logs. l is told when the server has responded, and may be nil. A shared server gets the
// lowest level that any client wants; messages below the level of a client are not passed to it.
func (f *Feed) SetLevel(params []byte, want calls.LogThreshold, l *LevelChange, out *peer.Outgoing) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if l != nil && f.phase == starting && f.Server.Dedicated() {
		l.Asked()
		f.levels.queued = append(f.levels.queued, l)
	}
	if f.phase != ready || !f.Server.Result().Offers("logging") || f.Source.Modern {
		return
	}
	if !f.Server.Owned() {
		if f.levels.raised != 0 && f.levels.raised <= want {
			return
		}
		f.levels.raised = want
	}
	f.requestLevelLocked(params, l, out)
}

// TakeQueuedLevels removes and returns the level changes that wait for the server to be ready.
func (f *Feed) TakeQueuedLevels() []*LevelChange {
	f.mu.Lock()
	defer f.mu.Unlock()
	queued := f.levels.queued
	f.levels.queued = nil
	return queued
}

// RaiseLogLevel makes a legacy server log what a modern client's request wants. The server keeps
// the level: toolman drops messages that other calls do not want. RaiseLogLevel reports whether the
// server got a request; l is told of its response, and may be nil.
func (f *Feed) RaiseLogLevel(want calls.LogThreshold, l *LevelChange, out *peer.Outgoing) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.needsMoreLogsLocked(want) {
		return false
	}
	f.levels.raised = want
	return f.requestLevelLocked(fmt.Appendf(nil, `{"level":%q}`, mcpwire.LevelName(int(want-1))), l, out)
}

// NeedsMoreLogs reports whether RaiseLogLevel with this threshold would send a request.
func (f *Feed) NeedsMoreLogs(want calls.LogThreshold) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.needsMoreLogsLocked(want)
}

// needsMoreLogsLocked is NeedsMoreLogs; mu is held.
func (f *Feed) needsMoreLogsLocked(want calls.LogThreshold) bool {
	return want != 0 && (f.levels.raised == 0 || f.levels.raised > want) && f.phase == ready && f.Server.Result().Offers("logging")
}

// requestLevelLocked sends logging/setLevel, and reports whether it could. l may be nil.
func (f *Feed) requestLevelLocked(params []byte, l *LevelChange, out *peer.Outgoing) bool {
	id := f.request(mcpwire.SetLevel, params, out)
	if l == nil || id == 0 {
		return id != 0
	}
	l.Asked()
	if f.levels.pending == nil {
		f.levels.pending = map[uint64]*LevelChange{}
	}
	f.levels.pending[id] = l
	return true
}

// LevelAnswered handles the response to a logging/setLevel of toolman's own.
func (f *Feed) LevelAnswered(id uint64, out *peer.Outgoing) {
	f.mu.Lock()
	l := f.levels.pending[id]
	delete(f.levels.pending, id)
	f.mu.Unlock()
	if l != nil && l.Answered() {
		l.Done(out)
	}
}

// Assume records that the server logs at this level already. It is for tests.
func (f *Feed) Assume(level calls.LogThreshold) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.levels.raised = level
}

// EndLevels ends the waits for responses, because the server sends no more.
func (f *Feed) EndLevels(out *peer.Outgoing) {
	f.mu.Lock()
	ids := slices.Collect(maps.Keys(f.levels.pending))
	f.mu.Unlock()
	for _, l := range f.TakeQueuedLevels() {
		if l.Answered() {
			l.Done(out)
		}
	}
	for _, id := range ids {
		f.LevelAnswered(id, out)
	}
}
