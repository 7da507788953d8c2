package trace

import (
	"encoding/binary"
	"math"
	"slices"
	"sort"
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
	words   []string             // in order
	heads   map[uint32][]string  // the words by their first wordBytes, longest first
	filter  [1 << 16 / 8]byte    // a bit for the hash of each key of heads
	longest int                  // of the words
	short   map[string]bool      // whole strings and numbers
	numbers map[float64]struct{} // values of the secrets that are numbers
}

// common are the values that say nothing by themselves.
var common = [...]string{"true", "false", "null", "yes", "no", "on", "off", "2.0"}

func newPatterns(secrets []string) *patterns {
	p := &patterns{heads: make(map[uint32][]string), short: make(map[string]bool), numbers: make(map[float64]struct{})}
	for _, s := range secrets {
		p.add(s)
		if core := strings.Trim(s, "\"'` \t\r\n"); core != s {
			p.add(core)
		}
		if strings.ContainsAny(s, "\r\n") {
			p.addLines(s)
		}
	}
	slices.Sort(p.words)
	p.words = slices.Compact(p.words)
	for _, s := range slices.Backward(p.words) { // of two with one start the longer is the later
		head := binary.LittleEndian.Uint32([]byte(s))
		p.heads[head] = append(p.heads[head], s)
		h := hash(head)
		p.filter[h/8] |= 1 << (h % 8)
		p.longest = max(p.longest, len(s))
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
	p.words = appendForms(p.words, s)
	if !utf8.ValidString(s) { // JSON cannot hold it, encoders put U+FFFD
		p.add(string([]rune(s)))
	}
}

// hash is of what a word, or what may be one, begins with.
func hash(head uint32) uint16 { return uint16(head * 0x9e3779b1 >> 16) } // Knuth's multiplicative hash

// each calls found with every stretch of b that is a secret, the longest that begins at its start, in order; they may overlap.
func (p *patterns) each(b []byte, found func(lo, hi int)) {
	for i := 0; i+wordBytes <= len(b); i++ {
		head := binary.LittleEndian.Uint32(b[i:])
		if h := hash(head); p.filter[h/8]&(1<<(h%8)) == 0 {
			continue
		}
		for _, s := range p.heads[head] {
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
		end := b[i:]
		n := sort.Search(len(p.words), func(n int) bool { return p.words[n] > string(end) }) // a whole one is no start
		if n < len(p.words) && len(p.words[n]) > len(end) && p.words[n][:len(end)] == string(end) {
			return i
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
