package suggest

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"toolman/mcpwire/sanitize"
)

// maxLen is the number of compared bytes of a name: one for each bit of a word.
const maxLen = 64

// A Search collects names that are similar to a wanted one.
type Search struct {
	wanted string
	places [256]uint64 // for each byte value, a bit for each of its positions in wanted
	found  []*match
}

type match struct {
	name  string
	score int // lower is more similar
}

// For starts a search for a name.
func For(name string) *Search {
	s := &Search{wanted: Fold(name)}
	s.wanted = s.wanted[:min(len(s.wanted), maxLen)]
	for i := range len(s.wanted) {
		s.places[s.wanted[i]] |= 1 << i
	}
	return s
}

// Nearest returns the known name that is most similar to name, or "" if none is similar.
func Nearest(name string, known []string) string {
	s := For(name)
	for _, k := range known {
		folded := Fold(k)
		s.Add(k, folded, folded)
	}
	return strings.Join(s.Best(1), "")
}

// Fold returns name without the differences that the comparison ignores: case, separators and
// hidden characters.
func Fold(name string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '-', '.', ' ':
			return '_'
		}
		return unicode.ToLower(r)
	}, sanitize.Line(name[:min(len(name), maxLen)]))
}

// Add adds a candidate. full is its folded name with the namespace, bare without it.
func (s *Search) Add(name, full, bare string) {
	if score, near := s.score(full, bare); near {
		s.found = append(s.found, &match{name, score})
	}
}

// Best returns up to n similar names, the most similar first.
func (s *Search) Best(n int) []string {
	slices.SortStableFunc(s.found, func(a, b *match) int { return cmp.Compare(a.score, b.score) })
	names := make([]string, min(n, len(s.found)))
	for i := range names {
		names[i] = s.found[i].name
	}
	return names
}

// score returns how similar a folded name is to the wanted one, and whether it is similar enough.
func (s *Search) score(full, bare string) (score int, near bool) {
	wanted := s.wanted
	if wanted == full || wanted == bare || strings.HasSuffix(wanted, full) && wanted[len(wanted)-len(full)-1] == '_' {
		return 0, true // only the namespace, the case or a separator differs
	}
	if len(wanted) >= 3 && (strings.Contains(full, wanted) || len(bare) >= 3 && strings.Contains(wanted, bare)) {
		return 1, true
	}
	limit := max(2, len(wanted)/3)
	d := s.distance(full, limit)
	if len(bare) < len(full) {
		d = min(d, s.distance(bare, limit))
	}
	return 1 + d, d <= limit && d < len(wanted)
}

// distance returns the number of bytes to insert, delete or replace to turn the wanted name into
// other (Levenshtein distance), but at most limit+1. Two words contain the differences in a column
// of the table: Myers, "A fast bit-vector algorithm for approximate string matching", in Hyyrö's
// version for whole texts.
func (s *Search) distance(other string, limit int) int {
	d := len(s.wanted)
	if d == 0 || d-len(other) > limit || len(other)-d > limit {
		return limit + 1
	}
	last := uint64(1) << (d - 1)
	up, down := ^uint64(0), uint64(0)
	for i := range len(other) {
		same := s.places[other[i]]
		level := ((same & up) + up) ^ up | same | down
		right, left := down|^(level|up), up&level
		if right&last != 0 {
			d++
		} else if left&last != 0 {
			d--
		}
		right, left = right<<1|1, left<<1
		up, down = left|^(level|right), right&level
	}
	return min(d, limit+1)
}
