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
	"toolman/router/client"
	"toolman/router/pool"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// A subscription is a resource that the client wants to hear of, as its server
// spells it.
type subscription struct {
	from *upstream.Upstream // nil: toolman's own catalog
	uri  string
}

// Set are those of a client. They are guarded by Conn.Mu.
type Set struct {
	*client.Conn
	Servers *pool.Servers
	listens []*listen                              // of the modern era
	subs    map[subscription]string                // with the client's spelling of each URI
	follows map[*upstream.Upstream]map[string]bool // the URIs that toolman has subscribed to for the client
}

// MaxSubscriptions is how many resources a session can be subscribed to.
const MaxSubscriptions = 10_000

// Note remembers under which URI the client knows a resource that it subscribes to, so that
// updates come under the same.
func (s *Set) Note(method mcpwire.Method, t catalog.Target, asked []byte) error {
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
		return fmt.Errorf("the session has %d subscriptions, as many as it may have; end some of them first", MaxSubscriptions)
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

// size is how many bytes a subscription keeps, where the client has asked for it by this URI.
func (x *subscription) size(asked string) int { return len(x.uri) + len(asked) + 64 }

// Find returns where an unsubscription leads. What is subscribed can
// be ended, also when the resource has been switched off or is listed no more.
func (s *Set) Find(asked []byte, t catalog.Target, verdict catalog.Verdict) (catalog.Target, catalog.Verdict) {
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

// Updated passes on that a resource has changed, under the URI that the client
// subscribed with. The resource may be a part of that one (2025-11-25, Resources).
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
	if known, ok := s.spelling(s.subs, u, uri); ok {
		s.tellUpdated(m, out, at, known, func(edits []jsonrpc.Edit) ([]jsonrpc.Edit, error) {
			return mcpwire.FromSubscription(edits, m, subscription)
		})
	}
	for _, l := range s.listens {
		if known, ok := s.spelling(l.subs, u, uri); ok {
			s.tellUpdated(m, out, at, known, func(edits []jsonrpc.Edit) ([]jsonrpc.Edit, error) {
				return mcpwire.ToSubscription(edits, m, l.id)
			})
		}
	}
}

// tellUpdated passes an update on under the client's URI, and to where it wants
// to hear of it.
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

// spelling returns how the client spells a URI of a server, if the client is to hear that the
// resource has changed: it has subscribed to that resource, or to one that it is a part of, and may
// use both.
func (s *Set) spelling(subs map[subscription]string, u *upstream.Upstream, uri string) (spelled string, ok bool) {
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
func (s *Set) mayHavePart(u *upstream.Upstream, uri, whole string) bool {
	return catalog.AsWritten(uri, whole) && s.View.Load().Catalog.AllowsUnlisted(s.Policy, u.Source, uri)
}

// Catalog subscribes the client to toolman's own resource, or ends that.
func (s *Set) Catalog(on bool) error {
	if on {
		return s.subscribe(ownCatalog, catalog.CatalogURI)
	}
	s.unsubscribe(ownCatalog)
	return nil
}

// ownCatalog is the subscription to toolman's own resource.
var ownCatalog = subscription{uri: catalog.CatalogURI}

// Exchange moves what is subscribed to at a server that is gone to the one in its place.
func (s *Set) Exchange(gone, next *upstream.Upstream, out *peer.Outgoing) {
	moveSubscriptions(s.subs, gone, next)
	for _, l := range s.listens {
		moveSubscriptions(l.subs, gone, next)
	}
	if next.PassesSubscriptions() {
		for sub := range s.subs {
			if sub.from == next {
				next.RequestURI(mcpwire.Subscribe, sub.uri, out)
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

// Drop forgets the subscriptions at servers that match.
func (s *Set) Drop(match func(u *upstream.Upstream) bool) {
	for sub := range s.subs {
		if sub.from != nil && match(sub.from) {
			s.unsubscribe(sub)
		}
	}
}

// Clear ends all subscriptions: the session has ended.
func (s *Set) Clear(out *peer.Outgoing) {
	s.subs = nil
	s.Follow(out)
}

// Revoke ends subscriptions to what the client may not have any more. A
// subscriptions/listen that is for nothing else ends in good order.
func (s *Set) Revoke(out *peer.Outgoing) {
	v := s.View.Load()
	revoked := func(sub subscription) bool {
		return sub.from != nil && (!s.MayUse(sub.from) || v.VerdictOf(sub.from.Source, sub.uri) == catalog.Denied)
	}
	for sub := range s.subs {
		if revoked(sub) {
			if u := sub.from; u.PassesSubscriptions() && u.Is(upstream.Ready) {
				u.RequestURI(mcpwire.Unsubscribe, sub.uri, out)
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

// Len is how many resources the client is subscribed to, but for subscriptions/listen.
func (s *Set) Len() int { return len(s.subs) }
