package apps

import (
	"net/url"
	"slices"
)

// A Server is a server that uses pages.
type Server struct {
	Name      string // unique
	Namespace string // may be "", and several servers may share it
	Pages     []string
}

// Names are the URIs that clients see instead of those that several servers use. It is immutable. A
// nil *Names is empty.
type Names struct {
	shown map[string]map[string]string // by server and its own URI
}

// Contest returns the names of the URIs that need one, or nil if there are none.
//
// A URI is contested if several servers use it. Each of them gets it under its own name: its
// segment is inserted behind the scheme, so that ui://map/app.html of the server with the namespace
// city becomes ui://city/map/app.html. The segment is the namespace, or the name of a server that
// has none or shares it with another of the servers. If a server uses a URI that another one gets
// this way, that URI is contested too, so that no server can take the place of another one's page.
//
// The result does not depend on the order of the servers, nor on their other URIs. It changes only
// when a server begins or ceases to use one of these URIs.
func Contest(servers []Server) *Names {
	users := map[string][]string{} // names of servers, by URI
	for _, s := range servers {
		for _, uri := range s.Pages {
			if !slices.Contains(users[uri], s.Name) {
				users[uri] = append(users[uri], s.Name)
			}
		}
	}
	var open []string
	for uri, by := range users {
		if len(by) > 1 {
			open = append(open, uri)
		}
	}
	if len(open) == 0 {
		return nil
	}
	segments := segmentsOf(servers)
	n := &Names{map[string]map[string]string{}}
	for contested := map[string]bool{}; len(open) > 0; {
		uri := open[len(open)-1]
		open = open[:len(open)-1]
		if contested[uri] {
			continue
		}
		contested[uri] = true
		for _, server := range users[uri] {
			shown := Scheme + segments[server] + "/" + uri[len(Scheme):]
			n.put(server, uri, shown)
			if users[shown] != nil {
				open = append(open, shown)
			}
		}
	}
	return n
}

func (n *Names) put(server, uri, shown string) {
	if n.shown[server] == nil {
		n.shown[server] = map[string]string{}
	}
	n.shown[server][uri] = shown
}

// segmentsOf returns a unique segment for the URIs of each server.
func segmentsOf(servers []Server) map[string]string {
	named := map[string]int{}
	for _, s := range servers {
		named[s.Namespace]++
	}
	segments, taken := map[string]string{}, map[string]bool{}
	for _, s := range servers {
		if s.Namespace != "" && named[s.Namespace] == 1 {
			segments[s.Name] = url.PathEscape(s.Namespace)
			taken[segments[s.Name]] = true
		}
	}
	for _, s := range servers {
		if segments[s.Name] == "" {
			segment := url.PathEscape(s.Name)
			for taken[segment] { // the namespace of another server
				segment += "~"
			}
			segments[s.Name], taken[segment] = segment, true
		}
	}
	return segments
}

// Shown returns the URI that clients see instead of a server's own. It reports false if that is the
// server's own.
func (n *Names) Shown(server, uri string) (string, bool) {
	if n == nil {
		return "", false
	}
	shown, ok := n.shown[server][uri]
	return shown, ok
}
