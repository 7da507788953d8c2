package catalog

import (
	"toolman/router/search"
)

// A finder ranks the entries of a catalog and of all catalogs that were made from it.
type finder struct {
	index   *search.Index
	entries []*Entry
}

// newFinder returns the finder of a catalog.
func newFinder(c *Catalog) *finder {
	f := &finder{}
	var docs []search.Document
	for _, of := range [...]*Catalog{c, c.Denied} {
		for _, e := range of.All() {
			if !e.ForPages() {
				f.entries = append(f.entries, e)
				docs = append(docs, search.Document{Server: e.Source.Name, Name: e.Item.Name, Definition: e.Item.Raw})
			}
		}
	}
	f.index = search.New(docs)
	return f
}

// search returns the entries that fit a query best, of those for which allowed returns true.
func (f *finder) search(query string, limit int, allowed func(*Entry) bool) (best []*Entry) {
	for _, hit := range f.index.Search(query, limit, func(doc int) bool { return allowed(f.entries[doc]) }) {
		best = append(best, f.entries[hit.Doc])
	}
	return best
}

// bytesPerToken is the measured average for tool definitions of real servers.
const bytesPerToken = 4.3

// Tokens estimates how many tokens this many bytes of definitions are.
func Tokens(bytes int) int { return int(float64(bytes) / bytesPerToken) }
