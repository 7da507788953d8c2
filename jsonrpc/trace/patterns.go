package trace

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	wordBytes  = 4 // secrets from this size on are looked for anywhere in a string
	digitBytes = 8 // and from this one on within a longer number
	lineBytes  = 8 // lines of a secret of several lines that are looked for alone
)

// patterns are the secrets in the forms in which they are looked for. Immutable.
type patterns struct {
	words   [256][]string        // by first byte, longest first
	longest int                  // of the words
	short   map[string]bool      // whole strings and numbers
	numbers map[float64]struct{} // values of the secrets that are numbers
}

// common are the values that say nothing by themselves.
var common = [...]string{"true", "false", "null", "yes", "no", "on", "off", "2.0"}

func newPatterns(secrets []string) *patterns {
	p := &patterns{short: make(map[string]bool), numbers: make(map[float64]struct{})}
	for _, s := range secrets {
		p.add(s)
		p.add(strings.Trim(s, "\"'` \t\r\n"))
		if strings.ContainsAny(s, "\r\n") {
			p.addLines(s)
		}
	}
	for i := range p.words {
		slices.SortFunc(p.words[i], func(a, b string) int {
			return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
		})
		p.words[i] = slices.Compact(p.words[i])
	}
	return p
}

func (p *patterns) addLines(s string) {
	for line := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = strings.TrimSpace(line); len(line) >= lineBytes {
			p.add(line)
		}
	}
}

func (p *patterns) add(s string) {
	if len(s) < 2 || slices.Contains(common[:], strings.ToLower(s)) || utf8.RuneCountInString(s) < 2 {
		return
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		p.numbers[math.Abs(n)] = struct{}{}
	}
	if len(s) < wordBytes {
		p.short[s] = true
		return
	}
	p.words[s[0]] = append(p.words[s[0]], s)
	p.longest = max(p.longest, len(s))
	if !utf8.ValidString(s) { // JSON cannot hold it, encoders put U+FFFD
		p.add(string([]rune(s)))
	}
}

// each calls found with every stretch of b that is a secret, the longest that begins at its start, in order; they may overlap.
func (p *patterns) each(b []byte, found func(lo, hi int)) {
	if p.longest == 0 {
		return
	}
	for i, c := range b {
		for _, s := range p.words[c] {
			if len(s) <= len(b)-i && string(b[i:i+len(s)]) == s {
				found(i, i+len(s))
				break
			}
		}
	}
}

// tail is where the longest end of b begins that is the start of a secret; len(b) if none is.
func (p *patterns) tail(b []byte) int {
	for i := max(0, len(b)-p.longest+1); i < len(b); i++ {
		for _, s := range p.words[b[i]] {
			if len(s) > len(b)-i && s[:len(b)-i] == string(b[i:]) {
				return i
			}
		}
	}
	return len(b)
}

// isWhole reports whether s, all of a string or a number, is one of the short secrets.
func (p *patterns) isWhole(s []byte) bool {
	return len(s) < wordBytes && p.short[string(s)]
}

// isNumber reports whether a number's token tells a secret.
func (p *patterns) isNumber(token []byte) bool {
	if p.isWhole(token) {
		return true
	}
	hit := false
	p.each(token, func(lo, hi int) { hit = hit || hi-lo >= digitBytes || hi-lo == len(token) })
	if hit || len(p.numbers) == 0 {
		return hit
	}
	n, err := strconv.ParseFloat(string(token), 64)
	_, hit = p.numbers[math.Abs(n)]
	return err == nil && hit
}
