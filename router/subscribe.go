package router

import (
	"fmt"
	"strings"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/tracing"
)

// A subscription is a resource that the client wants to hear of, as its server
// spells it.
type subscription struct {
	from *Upstream // nil: toolman's own catalog
	uri  string
}

// maxSubscriptions is how many resources a session can be subscribed to.
const maxSubscriptions = 10_000

// noteSubscriptionLocked remembers under which URI the client knows a resource that it subscribes to, so that
// updates come under the same.
func (s *Session) noteSubscriptionLocked(method mcpwire.Method, t catalog.Target, asked []byte) error {
	key := subscription{upstreamOf(t.Source), t.Name()}
	switch method {
	case mcpwire.Subscribe:
		return s.subscribeLocked(key, string(asked))
	case mcpwire.Unsubscribe:
		s.unsubscribeLocked(key)
	}
	return nil
}

func (s *Session) subscribeLocked(key subscription, asked string) error {
	_, known := s.subscriptions.subs[key]
	switch {
	case len(asked) > mcpwire.MaxURI:
		return fmt.Errorf("the URI is %d bytes long; the limit is %d", len(asked), mcpwire.MaxURI)
	case !known && len(s.subscriptions.subs) >= maxSubscriptions:
		return fmt.Errorf("the session has %d subscriptions, as many as it may have; end some of them first", maxSubscriptions)
	}
	s.unsubscribeLocked(key)
	if err := s.retainLocked(key.size(asked)); err != nil {
		return err
	}
	if s.subscriptions.subs == nil {
		s.subscriptions.subs = map[subscription]string{}
	}
	s.subscriptions.subs[key] = asked
	return nil
}

func (s *Session) unsubscribeLocked(key subscription) {
	if asked, known := s.subscriptions.subs[key]; known {
		s.freeLocked(key.size(asked))
		delete(s.subscriptions.subs, key)
	}
}

// size is how many bytes a subscription keeps, where the client has asked for it by this URI.
func (x *subscription) size(asked string) int { return len(x.uri) + len(asked) + 64 }

// subscribedLocked returns where an unsubscription leads. What is subscribed can
// be ended, also when the resource has been switched off or is listed no more.
func (s *Session) subscribedLocked(asked []byte, t catalog.Target, verdict catalog.Verdict) (catalog.Target, catalog.Verdict) {
	if _, ok := s.subscriptions.subs[subscription{upstreamOf(t.Source), t.Name()}]; ok {
		return t, catalog.Active
	}
	for sub, spelling := range s.subscriptions.subs {
		if spelling == string(asked) && sub.from != nil {
			return catalog.Target{Source: sub.from.source, URI: sub.uri}, catalog.Active
		}
	}
	return t, verdict
}

// updated passes on that a resource has changed, under the URI that the client
// subscribed with. The resource may be a part of that one (2025-11-25, Resources).
func (s *Session) updated(u *Upstream, m *jsonrpc.Message, out *peer.Outgoing) {
	at, err := m.Param("uri")
	if err != nil || !m.IsString(at) {
		return
	}
	uri := string(m.Text(at))
	subscription, err := mcpwire.SubscriptionOf(m)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.spelling(s.subscriptions.subs, u, uri); ok {
		s.tellUpdatedLocked(m, out, at, known, func(edits []jsonrpc.Edit) ([]jsonrpc.Edit, error) {
			return mcpwire.FromSubscription(edits, m, subscription)
		})
	}
	for _, l := range s.subscriptions.listens {
		if known, ok := s.spelling(l.subs, u, uri); ok {
			s.tellUpdatedLocked(m, out, at, known, func(edits []jsonrpc.Edit) ([]jsonrpc.Edit, error) {
				return mcpwire.ToSubscription(edits, m, l.id)
			})
		}
	}
}

// tellUpdatedLocked passes an update on under the client's URI, and to where it wants
// to hear of it.
func (s *Session) tellUpdatedLocked(m *jsonrpc.Message, out *peer.Outgoing, at jsonrpc.Span, uri string, move func([]jsonrpc.Edit) ([]jsonrpc.Edit, error)) {
	edits, err := move(out.Edits())
	if err != nil {
		out.Forget()
		return
	}
	out.SetEdits(edits)
	out.Edit(at, jsonrpc.AppendQuoted(nil, uri))
	s.pass(out, m, &tracing.Note{Method: mcpwire.ResourceUpdated})
}

// spelling returns how the client spells a URI of a server, if the client is to hear that the
// resource has changed: it has subscribed to that resource, or to one that it is a part of, and may
// use both.
func (s *Session) spelling(subs map[subscription]string, u *Upstream, uri string) (spelled string, ok bool) {
	v := s.view.Load()
	verdict := v.VerdictOf(u.source, uri)
	if asked, ok := subs[subscription{u, uri}]; ok {
		return asked, verdict == catalog.Active
	}
	longest := 0
	for sub, asked := range subs {
		if sub.from == u && len(sub.uri) > longest && isPart(uri, sub.uri) && v.VerdictOf(u.source, sub.uri) == catalog.Active {
			longest, spelled = len(sub.uri), asked+uri[len(sub.uri):]
		}
	}
	return spelled, longest > 0 && (verdict == catalog.Active || verdict == catalog.Unknown && s.mayHavePart(u, uri, uri[:longest]))
}

// isPart reports whether a URI is that of a part of a resource: it goes on where a segment of the
// path, the path or the query ends.
func isPart(uri, whole string) bool {
	if whole == "" || len(uri) <= len(whole) || !strings.HasPrefix(uri, whole) {
		return false
	}
	return strings.ContainsAny(uri[len(whole)-1:len(whole)+1], "/?#")
}

// mayHavePart reports whether the client may have a part of a resource that it may have, where the
// server does not list the part. The same rules count as if it did.
func (s *Session) mayHavePart(u *Upstream, uri, whole string) bool {
	return catalog.AsWritten(uri, whole) && s.view.Load().Catalog.AllowsUnlisted(s.policy, u.source, uri)
}
