package builtin

import (
	"bytes"
	"slices"
	"time"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/metatool"
	"toolman/router/tracing"
	"toolman/router/view"
)

// replyDelay is the time between the answer to the client's list request and the reply that waited
// for it. With this delay, Claude Code, Gemini CLI and OpenCode have the new tools in the model's
// next step. Without it they do not.
const replyDelay = 50 * time.Millisecond

// A pendingReply is the reply to a successful activation that waits until the client lists the
// tools again.
type pendingReply struct {
	id      []byte
	traceID uint64
	modern  bool             // the request is of the modern era
	mode    view.Mode        // of the request
	on, off []*catalog.Entry // the entries that were switched
	listed  bool             // the client has listed the tools again
	timer   *time.Timer
	outcome metatool.Outcome
	audited *audit.Decision
}

// replyAfterRelist gives the client a new view and announces the changes. If the client is expected
// to list the tools again, the reply waits until then, at most for Settings.Settle.
func (s *Items) replyAfterRelist(req *client.Request, o metatool.Outcome) {
	before, after := s.View.Load(), o.View
	s.View.Store(after)
	s.Tracker.Changed()
	s.Settings.Host.ViewChanged(&s.Info, s.Name(), before, after)
	on, off := switched(before, after)
	name, _, _ := mcpwire.Target(req.Message, mcpwire.ToolsCall)
	h := &pendingReply{id: bytes.Clone(req.Bytes(req.ID)), modern: req.Modern, mode: s.mode(req.Modern), traceID: s.TraceArrival(req, name),
		on: on, off: off, outcome: o}
	h.audited = s.BeginOwnAudit(req, h.traceID)
	if s.Trace.On() {
		s.Trace.Event(trace.EventActivate, "", confirmation(on, off), h.traceID)
	}
	told := s.Announce(before, after, req.Out)
	if !told || h.mode != view.ModeMutate || s.Peer.ListsOnce || s.Settings.Settle <= 0 {
		s.reply(h, req.Out)
		return
	}
	s.replies = append(s.replies, h)
	h.timer = time.AfterFunc(s.Settings.Settle, func() { s.expire(h) })
}

// relisted records that the client has listed the tools again.
func (s *Items) relisted() {
	for _, h := range s.replies {
		if !h.listed {
			h.listed = true
			h.timer.Reset(replyDelay)
		}
	}
}

// expire sends a pending reply when its timer fires: the client has listed the tools again or has
// not done so in time.
func (s *Items) expire(h *pendingReply) {
	s.WithLock(func(out *peer.Outgoing) {
		if slices.Contains(s.replies, h) {
			if !h.listed && !s.Peer.ListsOnce {
				s.Peer.ListsOnce = true
				s.Log.Info("the client does not list tools again when they change; activations will not wait for it. If it then cannot call them, write activation_mode = \"call\"",
					zap.String("session", s.Name()))
			}
			s.release(h, out)
		}
	})
}

// release sends a pending reply now.
func (s *Items) release(h *pendingReply, out *peer.Outgoing) {
	h.timer.Stop()
	s.replies = slices.DeleteFunc(slices.Clone(s.replies), func(other *pendingReply) bool { return other == h })
	s.Trace.ListedAgain(h.listed, h.traceID)
	s.reply(h, out)
}

// Replies returns the number of replies that wait.
func (s *Items) Replies() int { return len(s.replies) }

// Expiry returns what the timer of the oldest waiting reply calls. It is for tests.
func (s *Items) Expiry() func() {
	h := s.replies[0]
	return func() { s.expire(h) }
}

// ReplyNow sends all pending replies now, and lets no others wait: the client lists nothing more.
func (s *Items) ReplyNow(out *peer.Outgoing) {
	s.Peer.ListsOnce = true
	for _, h := range s.replies {
		s.release(h, out)
	}
}

// DropReply removes the pending reply to a cancelled request, and returns its trace ID and its line
// in the audit log. The effect of the request stays.
func (s *Items) DropReply(id []byte) (traceID uint64, audited *audit.Decision, ok bool) {
	for i, h := range s.replies {
		if bytes.Equal(h.id, id) {
			h.timer.Stop()
			s.replies = slices.Delete(slices.Clone(s.replies), i, i+1)
			return h.traceID, h.audited, true
		}
	}
	return 0, nil, false
}

// reply answers a call that has changed the client's view.
func (s *Items) reply(h *pendingReply, out *peer.Outgoing) {
	r := switchReply{On: h.on, Off: h.off, Modern: h.modern, Mode: h.mode, Static: s.Peer.ListsOnce}
	result := r.result(&h.outcome)
	h.audited.Replied(result)
	h.audited.End(audit.OK)
	s.Send(out, jsonrpc.AppendResult(nil, h.id, result), tracing.Note{ID: h.traceID, Method: mcpwire.ToolsCall, Status: "local"})
}
