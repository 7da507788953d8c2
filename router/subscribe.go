package router

import (
	"strings"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// A subscription is a resource that the client wants to hear of, as its server
// spells it.
type subscription struct {
	from *Upstream
	uri  string
}

// maxSubscriptions bounds what a client can make toolman remember.
const maxSubscriptions = 10_000

// watchLocked remembers under which URI the client knows a resource it
// subscribes to, so that updates come under the same.
func (s *Session) watchLocked(method mcpwire.Method, t target, asked []byte) {
	if method != mcpwire.Subscribe && method != mcpwire.Unsubscribe {
		return
	}
	key := subscription{t.upstream, t.name()}
	switch method {
	case mcpwire.Subscribe:
		if s.subs == nil {
			s.subs = map[subscription]string{}
		}
		if len(s.subs) < maxSubscriptions {
			s.subs[key] = string(asked)
		}
	case mcpwire.Unsubscribe:
		delete(s.subs, key)
	}
}

// updated passes on that a resource has changed, under the URI that the client
// subscribed with. The resource may be a part of that one (2025-11-25, Resources).
func (s *Session) updated(u *Upstream, m *jsonrpc.Message, b *jsonrpc.Batch) {
	at, err := m.Param("uri")
	if err != nil || !m.IsString(at) {
		return
	}
	uri := string(m.Text(at))
	s.mu.Lock()
	known, ok := s.spelling(u, uri)
	s.mu.Unlock()
	if !ok {
		return
	}
	b.Edit(at, jsonrpc.AppendQuoted(nil, known))
	s.pass(b, s.out, m, note{method: mcpwire.ResourceUpdated})
}

// spelling returns a server's URI as the client spells it, if the client has
// subscribed to it or to what it is a part of.
func (s *Session) spelling(u *Upstream, uri string) (spelled string, ok bool) {
	if asked, ok := s.subs[subscription{u, uri}]; ok {
		return asked, true
	}
	longest := -1
	for sub, asked := range s.subs {
		rest, part := strings.CutPrefix(uri, sub.uri)
		if part && sub.from == u && len(sub.uri) > longest {
			longest, spelled = len(sub.uri), asked+rest
		}
	}
	return spelled, longest >= 0
}
