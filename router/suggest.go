package router

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/agnivade/levenshtein"

	"toolman/mcpwire"
)

const (
	maxSimilar  = 5   // names suggested for one that is unknown
	maxCompared = 100 // characters of a name that are compared
)

// similar returns existing names of a kind that somebody may have meant, the
// likeliest first.
func (v *View) similar(k mcpwire.Kind, name string) []string {
	kinds := []mcpwire.Kind{k}
	if k.IsURI() {
		kinds = []mcpwire.Kind{mcpwire.Resource, mcpwire.Template}
	}
	type scored struct {
		name  string
		score int
	}
	var found []scored
	wanted := fold(name)
	for _, kind := range kinds {
		for _, e := range v.catalog.entries[kind] {
			if score, ok := distance(wanted, e); ok {
				found = append(found, scored{clean(e.Name), score})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(a.score, b.score) })
	names := make([]string, 0, maxSimilar)
	for _, f := range found[:min(len(found), maxSimilar)] {
		names = append(names, f.name)
	}
	return names
}

// fold makes spellings alike that people mix up.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '-', '.', ' ':
			return '_'
		}
		return unicode.ToLower(r)
	}, cut(name, maxCompared))
}

// distance says how far an entry's name, with its namespace or without, is from
// what was wanted, and whether that is near enough to be meant.
func distance(wanted string, e *Entry) (int, bool) {
	full, bare := fold(e.Name), fold(e.Item.Name)
	if wanted == full || wanted == bare || strings.HasSuffix(wanted, "_"+full) {
		return 0, true // only the namespace, the case or a separator is wrong
	}
	if len(wanted) >= 3 && (strings.Contains(full, wanted) || len(bare) >= 3 && strings.Contains(wanted, bare)) {
		return 1, true
	}
	limit := max(2, len(wanted)/3)
	d := min(changes(wanted, full, limit), changes(wanted, bare, limit))
	return 1 + d, d <= limit && d < len(wanted)
}

// changes counts the letters that differ between two names, as far as limit.
func changes(a, b string, limit int) int {
	if d := len(a) - len(b); d > limit || -d > limit {
		return limit + 1
	}
	return levenshtein.ComputeDistance(a, b)
}
