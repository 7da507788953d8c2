package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	wordBytes  = 4       // the shortest secret that is found anywhere in a string
	digitBytes = 8       // the shortest that is found inside a longer number
	lineBytes  = 8       // the shortest line of a secret that is found alone
	minCoded   = 5       // the shortest secret that is found in base64 and hex
	maxCoded   = 4 << 10 // the longest one: its forms take up to twelve times its size
)

// Patterns are the forms of secrets that are searched for. They are immutable.
type Patterns struct {
	words   []string             // sorted
	heads   map[uint32][]string  // the words by their first wordBytes, the longest first
	filter  [1 << 16 / 8]byte    // a bit for the hash of each key of heads
	quick   [1 << 16 / 8]byte    // as filter, of the words and of those in sensitive keys, see clean
	grams   [1 << 16 / 8]byte    // as quick, of each three bytes in a row that clean may find of a word
	step    int                  // how far clean goes at a time
	longest int                  // length of the longest word
	short   map[string]bool      // secrets that are found as whole strings and numbers only
	numbers map[float64]struct{} // values of the secrets that are numbers
}

// common are values that are not secret.
var common = [...]string{"true", "false", "null", "yes", "no", "on", "off", "2.0"}

func newPatterns(secrets []string) *Patterns {
	p := &Patterns{heads: make(map[uint32][]string), short: make(map[string]bool), numbers: make(map[float64]struct{})}
	for _, s := range secrets {
		p.add(s)
		if core := strings.Trim(s, "\"'` \t\r\n"); core != s {
			p.add(core)
		}
		if strings.ContainsAny(s, "\r\n") {
			p.addLines(s)
		}
	}
	p.step = len("token") - gramBytes + 1 // the shortest of the sensitive words
	slices.Sort(p.words)
	p.words = slices.Compact(p.words)
	for _, s := range slices.Backward(p.words) { // the longer of two words with one start comes later
		head := binary.LittleEndian.Uint32([]byte(s))
		p.heads[head] = append(p.heads[head], s)
		h := hash(head)
		p.filter[h/8] |= 1 << (h % 8)
		p.longest, p.step = max(p.longest, len(s)), min(p.step, len(s)-gramBytes+1)
	}
	for _, s := range p.words {
		p.addQuick(s)
	}
	for _, word := range sensitive {
		p.addQuick(word)
	}
	return p
}

// addQuick adds a word to quick and grams, which need to have step.
func (p *Patterns) addQuick(word string) {
	h := hash(binary.LittleEndian.Uint32([]byte(word)) | lower)
	p.quick[h/8] |= 1 << (h % 8)
	for i := range p.step {
		var four [wordBytes]byte
		copy(four[:gramBytes], word[i:])
		h := hash(gram(four[:]))
		p.grams[h/8] |= 1 << (h % 8)
	}
}

// gramBytes is how many bytes clean looks at first.
const gramBytes = 3

// gram returns the first gramBytes of four bytes in lower case.
func gram(four []byte) uint32 {
	return (binary.LittleEndian.Uint32(four) | lower) & 0xffffff
}

// lower makes four letters lower case.
const lower = 0x20202020

// clean reports whether JSON has certainly no secrets and no sensitive keys. It is much faster than
// a search, and false only for a few messages: those with escapes, with such a word, or with four
// bytes that have the hash of one.
func (p *Patterns) clean(b []byte) bool {
	if len(p.short) > 0 || len(p.numbers) > 0 {
		return false
	}
	if len(b) < wordBytes { // as IDs are
		return true
	}
	if bytes.IndexByte(b, '\\') >= 0 || bytes.IndexByte(b, '%') >= 0 || bytes.IndexByte(b, '&') >= 0 {
		return false
	}
	i := 0
	for ; i+wordBytes <= len(b); i += p.step { // of every word, three bytes begin at a stop
		h := hash(gram(b[i:]))
		if p.grams[h/8]&(1<<(h%8)) != 0 && p.near(b, i) {
			return false
		}
	}
	return i+gramBytes > len(b) || !p.near(b, i)
}

// near reports whether what may be a word begins at i or less than step before it.
func (p *Patterns) near(b []byte, i int) bool {
	for from := max(0, i-p.step+1); from <= min(i, len(b)-wordBytes); from++ {
		h := hash(binary.LittleEndian.Uint32(b[from:]) | lower)
		if p.quick[h/8]&(1<<(h%8)) != 0 {
			return true
		}
	}
	return false
}

// None reports whether there is nothing to search for: all values are too short or too common.
func (p *Patterns) None() bool { return len(p.words) == 0 && len(p.short) == 0 }

// OnlyWhole reports whether all values are so short that they are only found as whole strings and
// numbers.
func (p *Patterns) OnlyWhole() bool { return len(p.words) == 0 }

func (p *Patterns) addLines(s string) {
	for line := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = strings.TrimSpace(line); len(line) >= lineBytes {
			p.add(line)
		}
	}
}

func (p *Patterns) add(s string) {
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
	if !utf8.ValidString(s) { // encoders of JSON write U+FFFD
		p.add(string([]rune(s)))
	}
}

// hash is Knuth's multiplicative hash of the first bytes of a word.
func hash(head uint32) uint16 { return uint16(head * 0x9e3779b1 >> 16) }

// each calls found with every secret in b, in order, and with the longest where several begin. They
// may overlap.
func (p *Patterns) each(b []byte, found func(lo, hi int)) {
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

// tail returns where the longest end of b begins that is the start of a secret, or len(b).
func (p *Patterns) tail(b []byte) int {
	for i := max(0, len(b)-p.longest+1); i < len(b); i++ {
		end := b[i:]
		n := sort.Search(len(p.words), func(n int) bool { return p.words[n] > string(end) }) // after a whole secret
		if n < len(p.words) && len(p.words[n]) > len(end) && p.words[n][:len(end)] == string(end) {
			return i
		}
	}
	return len(b)
}

// isWhole reports whether s, a whole string or number, is a short secret.
func (p *Patterns) isWhole(s []byte) bool {
	return len(s) < wordBytes && p.short[string(s)]
}

// isNumber reports whether a number equals a secret or contains one.
func (p *Patterns) isNumber(token []byte) bool {
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

// appendForms appends s itself, and s in the encodings without escapes. A view resolves the others.
func appendForms(forms []string, s string) []string {
	forms = append(forms, s)
	if strings.Contains(s, " ") {
		forms = append(forms, strings.ReplaceAll(s, " ", "+")) // application/x-www-form-urlencoded; a view resolves %HH
	}
	if len(s) < minCoded || len(s) > maxCoded {
		return forms
	}
	lower := hex.EncodeToString([]byte(s))
	forms = append(forms, lower, strings.ToUpper(lower))
	for lead := range 3 {
		text := base64Middle(base64.RawStdEncoding, s, lead)
		forms = append(forms, text)
		if strings.ContainsAny(text, "+/") {
			forms = append(forms, base64Middle(base64.RawURLEncoding, s, lead))
		}
	}
	return forms
}

// base64Middle returns the part of the base64 of a longer text that depends on s alone. lead (0 to
// 2) is the number of bytes before s in its first group of three. The characters at both ends also
// hold bits of the neighbors, so they are left out. They hold at most four bits of the first byte
// of s and of the last.
func base64Middle(enc *base64.Encoding, s string, lead int) string {
	text := enc.EncodeToString(append(make([]byte, lead, lead+len(s)), s...))
	return text[(lead*8+5)/6 : (lead+len(s))*8/6]
}
