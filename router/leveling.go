package router

import (
	"bytes"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// levelTime is how long the answer to logging/setLevel waits for servers.
const levelTime = time.Second

// A leveling is a logging/setLevel that is answered once the servers have taken the level,
// or after levelTime: servers that handle requests side by side would otherwise
// miss what the client's next call logs at first.
type leveling struct {
	parked
	s    *Session
	left atomic.Int32 // servers that have not answered
}

// levelLocked tells the servers that log, and answers the client when they have heard.
func (s *Session) levelLocked(m *jsonrpc.Message, b *jsonrpc.Batch) {
	l := &leveling{s: s}
	l.left.Add(1)
	for _, u := range s.upstreams {
		u.setLevel(s.level, verbosityOf([]byte(s.levelName)), l, b)
	}
	if l.left.Add(-1) == 0 {
		s.answerOwn(m, b, mcpwire.SetLevel, []byte("{}"))
		return
	}
	l.parked = parked{bytes.Clone(m.Frame), s.came, s.arrivedLocked(m, mcpwire.SetLevel, jsonrpc.Span{})}
	s.levelings = append(s.levelings, l)
	time.AfterFunc(levelTime, func() {
		var b jsonrpc.Batch
		l.answer(&b)
		b.Flush()
	})
}

// leveled notes that the server has answered one of toolman's own logging/setLevel.
func (u *Upstream) leveled(id uint64, b *jsonrpc.Batch) {
	u.mu.Lock()
	l := u.levelings[id]
	delete(u.levelings, id)
	u.mu.Unlock()
	if l != nil && l.left.Add(-1) == 0 {
		l.answer(b)
	}
}

// replayLevel tells an upstream of the session's own, which is ready now, the level that was
// set before.
func (s *Session) replayLevel(u *Upstream) {
	var b jsonrpc.Batch
	u.mu.Lock()
	waiting := u.unlevel
	u.unlevel = nil
	u.mu.Unlock()
	s.mu.Lock()
	if s.level != nil {
		if len(waiting) == 0 {
			waiting = []*leveling{nil}
		}
		u.setLevel(s.level, verbosityOf([]byte(s.levelName)), waiting[len(waiting)-1], &b)
	}
	s.mu.Unlock()
	for _, l := range waiting {
		if l != nil && l.left.Add(-1) == 0 {
			l.answer(&b)
		}
	}
	b.Flush()
}

// endLevelings notes that the server will answer nothing more.
func (u *Upstream) endLevelings(b *jsonrpc.Batch) {
	u.mu.Lock()
	ids, unlevel := slices.Collect(maps.Keys(u.levelings)), u.unlevel
	u.unlevel = nil
	u.mu.Unlock()
	for _, l := range unlevel {
		if l.left.Add(-1) == 0 {
			l.answer(b)
		}
	}
	for _, id := range ids {
		u.leveled(id, b)
	}
}

// answer answers the client, unless that has happened or it wants no answer.
func (l *leveling) answer(b *jsonrpc.Batch) {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	if i := slices.Index(l.s.levelings, l); i >= 0 {
		l.s.answerLevelingLocked(i, b)
	}
}

func (s *Session) answerLevelingLocked(i int, b *jsonrpc.Batch) {
	l := s.levelings[i]
	s.levelings = slices.Delete(s.levelings, i, i+1)
	s.unparkOneLocked(l.parked, func(m *jsonrpc.Message, method mcpwire.Method) { s.answerOwn(m, b, method, []byte("{}")) })
}

// dropLevelingLocked forgets the request with this id, if it is one, and returns its
// correlation number.
func (s *Session) dropLevelingLocked(id []byte) (n uint64, ok bool) {
	var m jsonrpc.Message
	i := slices.IndexFunc(s.levelings, func(l *leveling) bool {
		return jsonrpc.Scan(l.frame, &m) == nil && bytes.Equal(m.Bytes(m.ID), id)
	})
	if i < 0 {
		return 0, false
	}
	n = s.levelings[i].n
	s.levelings = slices.Delete(s.levelings, i, i+1)
	return n, true
}
