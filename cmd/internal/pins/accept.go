package pins

import (
	"maps"
	"slices"
)

// Keep returns now with the pins of old that are of these servers: of a server that is not there nobody can say what it
// offers.
func Keep(old, now Set, servers []string) Set {
	kept := maps.Clone(now)
	for k, p := range old {
		if _, offered := kept[k]; !offered && slices.Contains(servers, p.Server) {
			kept[k] = p
		}
	}
	return kept
}

// Accept returns old with the items of these names as they are now: those that are gone are left out. A name may be that
// of items of several kinds. It returns the names that are in neither set instead when there are any.
func Accept(old, now Set, names []string) (next Set, unknown []string) {
	next = maps.Clone(old)
	for _, name := range names {
		if !accept(next, now, name) {
			unknown = append(unknown, name)
		}
	}
	if unknown != nil {
		return nil, unknown
	}
	return next, nil
}

func accept(next, now Set, name string) (known bool) {
	for _, k := range kindsOf(name) {
		is, has := now[k]
		_, had := next[k]
		switch {
		case has:
			next[k] = is
		case had:
			delete(next, k)
		}
		known = known || has || had
	}
	return known
}
