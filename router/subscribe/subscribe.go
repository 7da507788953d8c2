package subscribe

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/pool"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// A subscription is a resource that the client has subscribed to, in the server's spelling.
type subscription struct {
	from *upstream.Upstream // nil: toolman's own catalog
	uri  string
}

// size returns the number of bytes to retain for a subscription with this URI of the client.
func (x *subscription) size(asked string) int { return len(x.uri) + len(asked) + 64 }

// A Set contains the subscriptions of a client. Conn.Mu guards it.
type Set struct {
	*pool.Servers
	listens []*listen                              // of the modern era
	subs    map[subscription]string                // of the legacy era, to the client's spelling of the URI
	follows map[*upstream.Upstream]map[string]bool // the URIs that toolman has subscribed to for the client
}

// MaxSubscriptions is the maximum number of a session's resource subscriptions.
const MaxSubscriptions = 10_000

// FindUnsubscribe returns the target of a resources/unsubscribe. A subscription can be ended even
// if the resource was switched off or is no longer listed.
func (s *Set) FindUnsubscribe(asked []byte, t catalog.Target, verdict catalog.Verdict) (catalog.Target, catalog.Verdict) {
	if _, ok := s.subs[subscription{upstream.Of(t.Source), t.Name()}]; ok {
		return t, catalog.Active
	}
	for sub, spelling := range s.subs {
		if spelling == string(asked) && sub.from != nil {
			return catalog.Target{Source: sub.from.Source, URI: sub.uri}, catalog.Active
		}
	}
	return t, verdict
}

// Record records a resources/subscribe or resources/unsubscribe with the URI that the client uses,
// so that updates carry the same URI.
func (s *Set) Record(method mcpwire.Method, t catalog.Target, asked []byte) error {
	key := subscription{upstream.Of(t.Source), t.Name()}
	switch method {
	case mcpwire.Subscribe:
		return s.subscribe(key, string(asked))
	case mcpwire.Unsubscribe:
		s.unsubscribe(key)
	}
	return nil
}

func (s *Set) subscribe(key subscription, asked string) error {
	_, known := s.subs[key]
	switch {
	case len(asked) > mcpwire.MaxURI:
		return fmt.Errorf("the URI is %d bytes long; the limit is %d", len(asked), mcpwire.MaxURI)
	case !known && len(s.subs) >= MaxSubscriptions:
		return fmt.Errorf("the session has %d subscriptions, which is the limit; end some of them first", MaxSubscriptions)
	}
	s.unsubscribe(key)
	if err := s.Retain(key.size(asked)); err != nil {
		return err
	}
	if s.subs == nil {
		s.subs = map[subscription]string{}
	}
	s.subs[key] = asked
	return nil
}

func (s *Set) unsubscribe(key subscription) {
	if asked, known := s.subs[key]; known {
		s.Free(key.size(asked))
		delete(s.subs, key)
	}
}

// URIs returns the subscribed resources without those of subscriptions/listen, as the client writes
// them, sorted.
func (s *Set) URIs() []string { return slices.Sorted(maps.Values(s.subs)) }

// Catalog adds or removes the subscription to toolman's catalog resource.
func (s *Set) Catalog(on bool) error {
	if on {
		return s.subscribe(ownCatalog, catalog.CatalogURI)
	}
	s.unsubscribe(ownCatalog)
	return nil
}

// ownCatalog is the subscription to toolman's catalog resource.
var ownCatalog = subscription{uri: catalog.CatalogURI}

// Updated forwards resources/updated with the URI that the client subscribed to. The resource may
// be a sub-resource of the subscribed one (2025-11-25, Resources).
func (s *Set) Updated(u *upstream.Upstream, m *jsonrpc.Message, out *peer.Outgoing) {
	at, err := m.Param("uri")
	if err != nil || !m.IsString(at) {
		return
	}
	uri := string(m.Text(at))
	subscription, err := mcpwire.SubscriptionOf(m)
	if err != nil {
		return
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if known, ok := s.clientURI(s.subs, u, uri); ok {
		s.tellUpdated(m, out, at, known, func(edits []jsonrpc.Edit) ([]jsonrpc.Edit, error) {
			return mcpwire.FromSubscription(edits, m, subscription)
		})
	}
	for _, l := range s.listens {
		if known, ok := s.clientURI(l.subs, u, uri); ok {
			s.tellUpdated(m, out, at, known, func(edits []jsonrpc.Edit) ([]jsonrpc.Edit, error) {
				return mcpwire.ToSubscription(edits, m, l.id)
			})
		}
	}
}

// clientURI returns the client's spelling of a server's URI if the client must be notified of a
// change: it has subscribed to the resource or to one that contains it, and may use both.
func (s *Set) clientURI(subs map[subscription]string, u *upstream.Upstream, uri string) (spelled string, ok bool) {
	v := s.View.Load()
	verdict := v.VerdictOf(u.Source, uri)
	if asked, ok := subs[subscription{u, uri}]; ok {
		return asked, verdict == catalog.Active
	}
	longest := 0
	for sub, asked := range subs {
		if sub.from == u && len(sub.uri) > longest && isPart(uri, sub.uri) && v.VerdictOf(u.Source, sub.uri) == catalog.Active {
			longest, spelled = len(sub.uri), asked+uri[len(sub.uri):]
		}
	}
	return spelled, longest > 0 && (verdict == catalog.Active || verdict == catalog.Unknown && s.maySeePart(u, uri, uri[:longest]))
}

// isPart reports whether uri names a part of the resource whole: uri continues where a path
// segment, the path or the query of whole ends.
func isPart(uri, whole string) bool {
	if whole == "" || len(uri) <= len(whole) || !strings.HasPrefix(uri, whole) {
		return false
	}
	return strings.ContainsAny(uri[len(whole)-1:len(whole)+1], "/?#")
}

// maySeePart reports whether the client may see a part of a resource that it may see, where the
// server does not list the part. The same rules apply as to listed resources.
func (s *Set) maySeePart(u *upstream.Upstream, uri, whole string) bool {
	return catalog.IsNormalized(uri, whole) && s.View.Load().Catalog.AllowsUnlisted(s.Policy, u.Source, mcpwire.Item{Kind: mcpwire.Resource, Name: uri})
}

// tellUpdated forwards an update with the client's URI. move adapts it to the client's
// subscription.
func (s *Set) tellUpdated(m *jsonrpc.Message, out *peer.Outgoing, at jsonrpc.Span, uri string, move func([]jsonrpc.Edit) ([]jsonrpc.Edit, error)) {
	edits, err := move(out.Edits())
	if err != nil {
		out.Forget()
		return
	}
	out.SetEdits(edits)
	out.Edit(at, jsonrpc.AppendQuoted(nil, uri))
	s.Pass(out, m, &tracing.Note{Method: mcpwire.ResourceUpdated})
}

// ReplaceServer moves the subscriptions at a disconnected server to its replacement.
func (s *Set) ReplaceServer(gone, next *upstream.Upstream, out *peer.Outgoing) {
	moveSubscriptions(s.subs, gone, next)
	for _, l := range s.listens {
		moveSubscriptions(l.subs, gone, next)
	}
	if next.Feed.PassesSubscriptions() {
		for sub := range s.subs {
			if sub.from == next {
				next.Feed.RequestURI(mcpwire.Subscribe, sub.uri, out)
			}
		}
	}
	delete(s.follows, gone)
	s.Follow(out)
}

func moveSubscriptions(subs map[subscription]string, from, to *upstream.Upstream) {
	for sub, asked := range maps.Clone(subs) {
		if sub.from == from {
			delete(subs, sub)
			subs[subscription{to, sub.uri}] = asked
		}
	}
}

// DropServers removes the subscriptions at the servers that match.
func (s *Set) DropServers(match func(u *upstream.Upstream) bool) {
	for sub := range s.subs {
		if sub.from != nil && match(sub.from) {
			s.unsubscribe(sub)
		}
	}
}

// Clear removes all legacy subscriptions because the session has ended.
func (s *Set) Clear(out *peer.Outgoing) {
	s.subs = nil
	s.Follow(out)
}

// Revoke removes the subscriptions to resources that the client may no longer use. A
// subscriptions/listen that has nothing else ends with a final response.
func (s *Set) Revoke(out *peer.Outgoing) {
	v := s.View.Load()
	revoked := func(sub subscription) bool {
		return sub.from != nil && (!s.MayUse(sub.from) || v.VerdictOf(sub.from.Source, sub.uri) == catalog.Denied)
	}
	for sub := range s.subs {
		if revoked(sub) {
			if u := sub.from; u.Feed.PassesSubscriptions() && u.Is(upstream.Ready) {
				u.Feed.RequestURI(mcpwire.Unsubscribe, sub.uri, out)
			}
			s.unsubscribe(sub)
		}
	}
	s.listens = slices.DeleteFunc(s.listens, func(l *listen) bool {
		before := len(l.subs)
		for sub, asked := range l.subs {
			if revoked(sub) {
				delete(l.subs, sub)
				l.filter.ResourceSubscriptions = slices.DeleteFunc(l.filter.ResourceSubscriptions, func(uri string) bool { return uri == asked })
			}
		}
		over := len(l.subs) < before && string(l.filter.Append(nil)) == "{}"
		if over {
			s.Send(out, mcpwire.AppendListenEnd(nil, l.id), tracing.Note{Method: mcpwire.Listen, Status: "local"})
		}
		return over
	})
}

// Len returns the number of subscribed resources without those of subscriptions/listen.
func (s *Set) Len() int { return len(s.subs) }
