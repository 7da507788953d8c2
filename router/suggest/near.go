package suggest

import (
	"strings"
	"unicode"

	"toolman/mcpwire/sanitize"
)

// Fold makes spellings alike that people mix up.
func Fold(name string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '-', '.', ' ':
			return '_'
		}
		return unicode.ToLower(r)
	}, sanitize.Line(name[:min(len(name), maxPattern)]))
}

// Near says how far a name, with its namespace or without, is from what was
// wanted, and whether that is near enough to be meant. All three are folded.
func (p *pattern) Near(full, bare string) (int, bool) {
	wanted := p.text
	if wanted == full || wanted == bare || strings.HasSuffix(wanted, full) && wanted[len(wanted)-len(full)-1] == '_' {
		return 0, true // only the namespace, the case or a separator is wrong
	}
	if len(wanted) >= 3 && (strings.Contains(full, wanted) || len(bare) >= 3 && strings.Contains(wanted, bare)) {
		return 1, true
	}
	limit := max(2, len(wanted)/3)
	d := p.distance(full, limit)
	if len(bare) < len(full) {
		d = min(d, p.distance(bare, limit))
	}
	return 1 + d, d <= limit && d < len(wanted)
}
