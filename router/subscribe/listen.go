package subscribe

import (
	"bytes"
	"slices"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/client"
	"toolman/router/tracing"
	"toolman/router/upstream"
)

// MaxListens and maxSharedListens limit the open subscriptions of a client, and of all programs
// that share one session.
const MaxListens, maxSharedListens = 64, 16384

func (s *Set) maxListens() int {
	if s.Info.Many {
		return maxSharedListens
	}
	return MaxListens
}

// A listen is an open subscription of a modern client (2026-07-28, Subscriptions).
type listen struct {
	id     []byte // of the request that opened it, verbatim
	filter mcpwire.Filter
	subs   map[subscription]string // to the client's spelling of the URI
}

// Listen opens a subscription. It first acknowledges the part of the filter that toolman can serve.
func (s *Set) Listen(req *client.Request) {
	l := &listen{id: bytes.Clone(req.Bytes(req.ID)), subs: map[subscription]string{}}
	var err error
	if l.filter, err = mcpwire.ParseFilter(req.Message); err != nil {
		s.DeclineError(req, err)
		return
	}
	open := func(o *listen) bool { return bytes.Equal(o.id, l.id) }
	if len(s.listens) >= s.maxListens() || slices.ContainsFunc(s.listens, open) {
		s.Refuse(req, client.Refusal{Code: jsonrpc.CodeInvalidRequest,
			Text: "too many subscriptions are open, or one with this id; cancel one of them first"})
		return
	}
	n := s.TraceArrival(req, jsonrpc.Span{})
	l.filter.ResourceSubscriptions = slices.DeleteFunc(l.filter.ResourceSubscriptions, func(uri string) bool { return !s.addResource(req, l, uri) })
	s.Send(req.Out, mcpwire.AppendAcknowledged(nil, l.id, &l.filter), tracing.Note{ID: n, Method: mcpwire.Acknowledged})
	if string(l.filter.Append(nil)) == "{}" {
		s.Send(req.Out, mcpwire.AppendListenEnd(nil, l.id), tracing.Note{ID: n, Method: mcpwire.Listen, Status: "local"})
		return
	}
	s.listens = append(s.listens, l)
	s.Follow(req.Out)
}

// addResource finds the resource of a URI and adds it to l. It reports whether the client can be
// notified of its changes.
func (s *Set) addResource(req *client.Request, l *listen, uri string) bool {
	if uri == catalog.CatalogURI {
		s.AuditListen(req, uri, catalog.Target{}, catalog.Active, true)
		l.subs[ownCatalog] = uri
		return true
	}
	t, verdict := s.View.Load().FindURI([]byte(uri))
	u := upstream.Of(t.Source)
	taken := verdict == catalog.Active && u.Feed.Subscribable() && s.Missing[u] == nil
	s.AuditListen(req, uri, t, verdict, taken)
	if taken {
		u.Want()
		l.subs[subscription{u, t.Name()}] = uri
	}
	return taken
}

// Cancel ends the subscription that the request with this ID opened, because the client has
// cancelled it. It sends nothing to the client. It reports whether there is such a subscription.
func (s *Set) Cancel(id []byte, out *peer.Outgoing) bool {
	i := slices.IndexFunc(s.listens, func(l *listen) bool { return bytes.Equal(l.id, id) })
	if i < 0 {
		return false
	}
	s.listens = slices.Delete(s.listens, i, i+1)
	s.Follow(out)
	return true
}

// EndListens ends all subscriptions with a final response.
func (s *Set) EndListens(out *peer.Outgoing) {
	for _, l := range s.listens {
		s.Send(out, mcpwire.AppendListenEnd(nil, l.id), tracing.Note{Method: mcpwire.Listen, Status: "local"})
	}
	s.listens = nil
}

// End is EndListens for the shutdown of toolman. It locks Conn.Mu.
func (s *Set) End() {
	s.WithLock(func(out *peer.Outgoing) {
		s.EndListens(out)
	})
}

// HearsOfTools reports whether the client has a subscription for changes of the list of tools.
func (s *Set) HearsOfTools() bool {
	return slices.ContainsFunc(s.listens, func(l *listen) bool { return l.filter.ToolsListChanged })
}

// ListChanged notifies the client of a changed list: outside of subscriptions if legacy is set, and
// in each subscription that wants it if modern is set. It reports whether it sent a notification.
func (s *Set) ListChanged(out *peer.Outgoing, method mcpwire.Method, legacy, modern bool) (heard bool) {
	if legacy && s.Peer.Ready {
		s.Announce(out, method)
		heard = true
	}
	for _, l := range s.listens {
		if modern && l.filter.Wants(method) {
			s.Send(out, mcpwire.AppendListChanged(nil, l.id, method), tracing.Note{Method: method})
			heard = true
		}
	}
	return heard
}

// CatalogChanged notifies a client that has subscribed to the catalog resource.
func (s *Set) CatalogChanged(out *peer.Outgoing) {
	if _, ok := s.subs[ownCatalog]; ok {
		params := []byte(`{"uri":"` + catalog.CatalogURI + `"}`)
		s.Send(out, jsonrpc.AppendNotification(nil, string(mcpwire.ResourceUpdated), params), tracing.Note{Method: mcpwire.ResourceUpdated})
	}
	for _, l := range s.listens {
		if _, ok := l.subs[ownCatalog]; ok {
			s.Send(out, mcpwire.AppendUpdated(nil, l.id, catalog.CatalogURI), tracing.Note{Method: mcpwire.ResourceUpdated})
		}
	}
}

// Follow makes each upstream server send updates for exactly the resources that are subscribed to.
func (s *Set) Follow(out *peer.Outgoing) {
	for _, u := range s.All {
		want := s.wanted(u)
		if before := s.follows[u]; len(want)+len(before) > 0 {
			u.Feed.UpdateSubscriptions(want, before, out)
			s.setFollowed(u, want)
		}
	}
}

// wanted returns the URIs that toolman must subscribe to itself. Subscriptions of a legacy client
// at its own legacy server are forwarded instead.
func (s *Set) wanted(u *upstream.Upstream) map[string]bool {
	wanted := map[string]bool{}
	for _, l := range s.listens {
		for sub := range l.subs {
			if sub.from == u {
				wanted[sub.uri] = true
			}
		}
	}
	for sub := range s.subs {
		if sub.from == u && !u.Feed.PassesSubscriptions() {
			wanted[sub.uri] = true
		}
	}
	return wanted
}

// setFollowed records the URIs that toolman has subscribed to at a server.
func (s *Set) setFollowed(u *upstream.Upstream, uris map[string]bool) {
	if s.follows == nil {
		s.follows = map[*upstream.Upstream]map[string]bool{}
	}
	s.follows[u] = uris
	if len(uris) == 0 {
		delete(s.follows, u)
	}
}
