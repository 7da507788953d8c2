package apps

import (
	"maps"
	"slices"
)

// Opened records for which servers a client may show pages now. A page says nothing about itself
// when it calls a tool of its server, so this is all that toolman knows about its origin. The zero
// value is ready to use.
type Opened struct {
	called, read map[string]bool // names of servers
}

// Called records that the client has called a tool with a page of a server, and reports whether
// that is the first one.
func (o *Opened) Called(server string) (first bool) {
	first = !o.called[server]
	note(&o.called, server)
	return first
}

// Read records that the client has read a page of a server.
func (o *Opened) Read(server string) { note(&o.read, server) }

func note(to *map[string]bool, server string) {
	if *to == nil {
		*to = map[string]bool{}
	}
	(*to)[server] = true
}

// Has reports whether the client may show a page of a server.
func (o *Opened) Has(server string) bool { return o.called[server] || o.read[server] }

// Servers returns the servers of which the client has called a tool with a page, sorted. Opened may
// be nil.
func (o *Opened) Servers() []string {
	if o == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(o.called))
}

// Narrow returns those servers whose pages can be open: those of called tools or, if there are
// none, those that were read. A host may read pages long before it shows them.
func (o *Opened) Narrow(servers []string) []string {
	for _, in := range []map[string]bool{o.called, o.read} {
		var found []string
		for _, s := range servers {
			if in[s] {
				found = append(found, s)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}
