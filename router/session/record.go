package session

import (
	"fmt"

	"go.uber.org/zap"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/apps"
	"toolman/router/audit"
	"toolman/router/client"
	"toolman/router/record"
	"toolman/router/upstream"
)

// Changes returns a number that is another after each change of what Record returns. It is always 0
// for a session without client.Info.Recorded.
func (s *Session) Changes() uint64 { return s.Tracker.Changes() }

// StoreWith sets what stores the record after a change that no response of the session waits for.
func (s *Session) StoreWith(store func()) { s.Tracker.StoreWith(store) }

// Record returns what another process needs to make the session again with Restore, as JSON.
func (s *Session) Record() []byte {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	var unrestored []string
	if s.later != nil {
		unrestored = s.later.unrestored
	}
	r := record.Record{Ready: s.Peer.Ready, Level: s.levels.Params(), Activations: record.Of(s.View.Load().Activations()),
		Subscriptions: append(s.subscriptions.URIs(), unrestored...), Servers: s.Tracker.Used(), Pages: s.pages.Servers()}
	if s.Peer.Hello != nil {
		r.Initialize = s.Peer.Hello.Params()
	}
	return r.Append(nil)
}

// Restore makes a new session what its record says. It handles the messages of the client that
// count for later requests once more; nobody gets the answers. A server with state that the session
// has called refuses one call, since what it remembered is lost.
func (s *Session) Restore(text []byte) {
	r, ok := record.Read(text)
	if !ok {
		s.Log.Warn("a session begins anew, because its record is of another version of toolman", zap.String("session", s.Name()))
		return
	}
	s.replay(mcpwire.Initialize, r.Initialize)
	if r.Ready && r.Initialize != nil {
		s.deliverRestored(jsonrpc.AppendNotification(nil, string(mcpwire.Initialized), nil))
	}
	s.replay(mcpwire.SetLevel, r.Level)
	activations := r.Activations.Activations(s.env.Host.Library(&s.Info).Find)
	s.WithLock(func(*peer.Outgoing) {
		s.own.Restore(activations)
		if len(r.Subscriptions) > 0 {
			s.laterLocked().unrestored = r.Subscriptions
		}
		s.Tracker.Lose(r.Servers)
		for _, server := range r.Pages {
			s.openPage().Called(server)
		}
	})
	s.restoreSubscriptions()
}

// laterLocked returns what is to be done when the servers have started.
func (s *Session) laterLocked() *later {
	if s.later == nil {
		s.later = &later{}
	}
	return s.later
}

// restoreSubscriptions subscribes again, once the servers have started. Nothing of the client's
// waits for that: there may be more subscriptions than requests that may wait.
func (s *Session) restoreSubscriptions() {
	s.WithLock(func(out *peer.Outgoing) {
		if s.later == nil || !s.own.CatalogReady() {
			return
		}
		uris := s.later.unrestored
		s.later.unrestored = nil
		for _, uri := range uris {
			params := fmt.Appendf(nil, `{"uri":%s}`, jsonrpc.AppendQuoted(nil, uri))
			if req, err := client.ReadRequest(restoring(mcpwire.Subscribe, params), out); err == nil {
				s.serveLocked(req)
			}
		}
	})
}

// replay handles a request of the client once more; without params there is none.
func (s *Session) replay(method mcpwire.Method, params []byte) {
	if params != nil {
		s.deliverRestored(restoring(method, params))
	}
}

// restoring returns a request whose answer nobody gets.
func restoring(method mcpwire.Method, params []byte) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"toolman-restore","method":%q,"params":%s}`, method, params)
}

func (s *Session) deliverRestored(frame []byte) {
	var m jsonrpc.Message
	if err := jsonrpc.Scan(frame, &m); err != nil {
		return
	}
	var out peer.Outgoing
	s.Message(&m, &out)
	out.Flush()
}

// AwaitsClient reports whether the session waits for its client: for answers to questions, or for
// the repetition of a call.
func (s *Session) AwaitsClient() bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	h := s.input.Held()
	return h.ServerRequests+h.Rounds+h.Suspended+h.Permits > 0
}

// checkRestarted refuses one call of each server that remembered something of the session in a
// process that is gone. The model must not believe, for example, that its shell is still in the
// same folder.
func (s *Session) checkRestarted(req *client.Request) bool {
	if req.Method != mcpwire.ToolsCall || !s.Tracker.TakeLost(req.Upstream.Name) {
		return true
	}
	s.Tracker.Changed()
	s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInternalError, Verdict: string(audit.Busy), About: req.Target, Rule: "its process is gone", Text: fmt.Sprintf(
		"server %s was started anew on another replica, and what it remembered of this session is gone; nothing was done: make the call again if it does not depend on that",
		sanitize.Name(req.Upstream.Name))})
	return false
}

// noteUse notes that the session calls a server. Only processes remember something.
func (s *Session) noteUse(u *upstream.Upstream) {
	if s.Tracker != nil && !u.Configured().Stateless {
		s.Tracker.Use(u.Name)
	}
}

// openPage returns the servers whose pages the client may show.
func (s *Session) openPage() *apps.Opened {
	if s.pages == nil {
		s.pages = &apps.Opened{}
	}
	return s.pages
}
