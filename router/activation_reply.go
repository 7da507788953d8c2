package router

import (
	"bytes"
	"slices"
	"time"

	"toolman/jsonrpc/peer"
	"toolman/router/client"
	"toolman/router/metatool"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/tracing"
	"toolman/router/view"
)

// replyAfterList is how long after its list was answered a client gets the reply
// that waited for it. Claude Code, Gemini CLI and OpenCode then have the new
// tools in the model's next step; with the reply at once they have not.
const replyAfterList = 50 * time.Millisecond

// A pendingReply is the reply of a successful activation that waits for the client to
// list the tools again.
type pendingReply struct {
	id      []byte
	n       uint64
	modern  bool             // the client's request is of the modern era
	mode    view.Mode        // of that request
	on, off []*catalog.Entry // what was switched
	listed  bool             // the list was answered
	timer   *time.Timer
	outcome metatool.Outcome
	audited *audit.Decision
}

// replyAfterRelistLocked shows the client another view, tells it what has changed and arranges for the reply: once
// the client has listed again, or when it does not in time.
func (s *Session) replyAfterRelistLocked(req *client.Request, o metatool.Outcome) {
	before, after := s.View.Load(), o.View
	s.View.Store(after)
	on, off := metatool.Switched(before, after)
	name, _, _ := mcpwire.Target(req.Message, mcpwire.ToolsCall)
	h := &pendingReply{id: bytes.Clone(req.Bytes(req.ID)), modern: req.Modern, mode: s.modeOf(req.Modern), n: s.TraceArrival(req, name),
		on: on, off: off, outcome: o}
	h.audited = s.DecideOwn(req, h.n)
	if s.Trace.On() {
		s.Trace.Event(trace.EventActivate, "", metatool.Confirmation(on, off), h.n)
	}
	told := s.announceLocked(before, after, req.Out)
	if !told || h.mode != view.ModeMutate || s.Peer.ListsOnce || s.env.Settle <= 0 {
		s.replyLocked(h, req.Out)
		return
	}
	s.waiting.replies = append(s.waiting.replies, h)
	h.timer = time.AfterFunc(s.env.Settle, func() { s.expire(h) })
}

// toolsRelistedLocked notes that the client has listed the tools again.
func (s *Session) toolsRelistedLocked() {
	for _, h := range s.waiting.replies {
		if !h.listed {
			h.listed = true
			h.timer.Reset(replyAfterList)
		}
	}
}

// expire sends a held reply: the client has listed again, or let the wait pass.
func (s *Session) expire(h *pendingReply) {
	var out peer.Outgoing
	s.Mu.Lock()
	if slices.Contains(s.waiting.replies, h) {
		if !h.listed && !s.Peer.ListsOnce {
			s.Peer.ListsOnce = true
			s.Log.Info("the client does not list tools again when they change; activations will not wait for it",
				zap.String("session", s.Name()))
		}
		s.releaseLocked(h, &out)
	}
	s.Mu.Unlock()
	out.Flush()
}

// releaseLocked sends a held reply now.
func (s *Session) releaseLocked(h *pendingReply, out *peer.Outgoing) {
	h.timer.Stop()
	s.waiting.replies = slices.DeleteFunc(slices.Clone(s.waiting.replies), func(other *pendingReply) bool { return other == h })
	s.Trace.Settled(h.listed, h.n)
	s.replyLocked(h, out)
}

// forgetReplyLocked drops the reply to a request that was cancelled, and returns it. What
// the request did stays.
func (s *Session) forgetReplyLocked(id []byte) *pendingReply {
	for i, h := range s.waiting.replies {
		if bytes.Equal(h.id, id) {
			h.timer.Stop()
			s.waiting.replies = slices.Delete(slices.Clone(s.waiting.replies), i, i+1)
			return h
		}
	}
	return nil
}

// replyLocked answers a call that has changed what the client sees.
func (s *Session) replyLocked(h *pendingReply, out *peer.Outgoing) {
	h.audited.End(audit.OK)
	r := metatool.Reply{On: h.on, Off: h.off, Modern: h.modern, Mode: h.mode, Static: s.Peer.ListsOnce}
	s.Send(out, jsonrpc.AppendResult(nil, h.id, r.Result(&h.outcome)), tracing.Note{ID: h.n, Method: mcpwire.ToolsCall, Status: "local"})
}
