package router

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/tracing"
	"toolman/router/view"
)

// settleAfter is how long after its list was answered a client gets the reply
// that waited for it. Claude Code, Gemini CLI and OpenCode then have the new
// tools in the model's next step; with the reply at once they have not.
const settleAfter = 50 * time.Millisecond

// A held is the reply of a successful activation that waits for the client to
// list the tools again.
type held struct {
	id            []byte
	n             uint64
	modern        bool      // the client's request is of the modern era
	mode          view.Mode // of that request
	before, after *view.View
	listed        bool // the list was answered
	timer         *time.Timer
	words         words
	audited       *audit.Decision
}

// Words are what there is to say of an activation beside what it has changed.
type words struct {
	outcome  func(text string) any // the object to say it in; nil: that of toolman_activate
	warnings []string              // for toolman_activate: about tools that a toolset leaves out
}

// holdLocked tells the client what has changed and arranges for the reply: once
// the client has listed again, or when it does not in time.
func (s *Session) holdLocked(req *request, before *view.View, after *view.View, words words) {
	name, _, _ := mcpwire.Target(req.Message, mcpwire.ToolsCall)
	h := &held{id: bytes.Clone(req.Bytes(req.ID)), modern: req.modern, mode: s.modeOf(req.modern), n: s.arrivedLocked(req, name),
		before: before, after: after, words: words}
	h.audited = s.decideOwnLocked(req, h.n)
	if s.r.trace.On() {
		s.r.trace.Event(trace.EventActivate, "", confirmation(h.changes()), h.n)
	}
	told := s.announceLocked(before, after, req.out)
	if !told || h.mode != view.ModeMutate || s.static || s.r.Settle <= 0 {
		s.replyLocked(h, req.out)
		return
	}
	s.held = append(s.held, h)
	h.timer = time.AfterFunc(s.r.Settle, func() { s.expire(h) })
}

func (s *Session) notify(b *jsonrpc.Batch, method mcpwire.Method) {
	s.send(b, jsonrpc.AppendNotification(nil, string(method), nil), tracing.Note{Method: method})
}

// listedLocked notes that the client has listed the tools again.
func (s *Session) listedLocked() {
	for _, h := range s.held {
		if !h.listed {
			h.listed = true
			h.timer.Reset(settleAfter)
		}
	}
}

// expire sends a held reply: the client has listed again, or let the wait pass.
func (s *Session) expire(h *held) {
	var b jsonrpc.Batch
	s.mu.Lock()
	if slices.Contains(s.held, h) {
		if !h.listed && !s.static {
			s.static = true
			s.log.Info("the client does not list tools again when they change; activations will not wait for it",
				zap.String("session", s.name()))
		}
		s.releaseLocked(h, &b)
	}
	s.mu.Unlock()
	b.Flush()
}

// releaseLocked sends a held reply now.
func (s *Session) releaseLocked(h *held, b *jsonrpc.Batch) {
	h.timer.Stop()
	s.held = slices.DeleteFunc(slices.Clone(s.held), func(other *held) bool { return other == h })
	s.r.trace.Settled(h.listed, h.n)
	s.replyLocked(h, b)
}

// forgetHeldLocked drops the reply to a request that was cancelled, and returns it. What
// the request did stays.
func (s *Session) forgetHeldLocked(id []byte) *held {
	for i, h := range s.held {
		if bytes.Equal(h.id, id) {
			h.timer.Stop()
			s.held = slices.Delete(slices.Clone(s.held), i, i+1)
			return h
		}
	}
	return nil
}

// maxDefinitions bounds the bytes of tool definitions in one reply.
const maxDefinitions = 256 << 10

// replyLocked answers a successful activation: in a few words, and with the
// definitions of the tools that are now on, for clients that do not list again.
func (s *Session) replyLocked(h *held, b *jsonrpc.Batch) {
	h.audited.End(audit.OK)
	on, off := h.changes()
	var tools [][]byte
	size := 0
	for _, e := range on {
		if e.Item.Kind == mcpwire.Tool && size+len(e.Item.Raw) <= maxDefinitions {
			size += len(e.Item.Raw)
			tools = append(tools, e.AppendListed(nil, h.modern, false))
		}
	}
	text, advice := confirmation(on, off), ""
	if len(tools) > 0 {
		advice = s.advice(h)
	}
	var result []byte
	if h.words.outcome != nil {
		result = mcpwire.AppendToolOutcome(eraOf(h.modern), nil, outcomeJSON(h.words.outcome(text+advice)), tools, advice != "")
	} else {
		text = strings.Join(append([]string{text + advice}, h.words.warnings...), ". ")
		result = mcpwire.AppendToolSuccess(eraOf(h.modern), nil, text, tools, advice != "")
	}
	s.send(b, jsonrpc.AppendResult(nil, h.id, result), tracing.Note{ID: h.n, Method: mcpwire.ToolsCall, Status: "local"})
}

// advice says how to go on, where the list of tools does not say it.
func (s *Session) advice(h *held) string {
	const how = CallTool + `, as {"name": …, "arguments": {…}}; the definitions are in this result`
	switch {
	case h.mode == view.ModeCall:
		return ". Call what was switched on with " + how
	case s.static:
		return ". This client does not refresh its list of tools by itself: call what is missing there with " + how
	}
	return ""
}

// changes returns the entries that were switched on and off.
func (h *held) changes() (on, off []*catalog.Entry) {
	for _, entries := range h.after.Catalog.Kinds() {
		for _, e := range entries {
			was, is := h.before.Active(e), h.after.Active(e)
			if is && !was {
				on = append(on, e)
			} else if was && !is {
				off = append(off, e)
			}
		}
	}
	return on, off
}

func confirmation(on, off []*catalog.Entry) string {
	var parts []string
	if len(on) > 0 {
		parts = append(parts, "switched on "+enumerate(on))
	}
	if len(off) > 0 {
		parts = append(parts, "switched off "+enumerate(off))
	}
	if len(parts) == 0 {
		return "nothing to change: everything named was as asked for"
	}
	return strings.Join(parts, "; ")
}

// enumerate names some entries and counts the rest.
func enumerate(entries []*catalog.Entry) string {
	const most = 10
	var names []string
	for _, e := range entries[:min(len(entries), most)] {
		names = append(names, sanitize.Name(e.Name))
	}
	text := strings.Join(names, ", ")
	if more := len(entries) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
