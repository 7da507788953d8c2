package scan

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// Long strings are read 64 bytes at a time where the CPU can: wherever the blocks happen to begin,
// the end and the errors are those of a reader of single bytes.
func TestScanReadsLongStringsLikeShortOnes(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 4))
	ends := map[string]int{}
	for n := range 800 {
		for range 30 {
			at := r.IntN(70)
			b := randomText(r, bytes.Repeat([]byte{'\\'}, at), n)
			next, wrongAt, what := readText(b, at)
			s := Scanner{B: b}
			if got := s.String(at); got != next || s.At != wrongAt || s.Reason != what {
				t.Fatalf("at %d of %q:\n got %d, %d %q\nwant %d, %d %q", at, b, got, s.At, s.Reason, next, wrongAt, what)
			}
			if next < 0 && wrongAt-at > 200 || next-at > 200 {
				ends[what]++
			}
		}
	}
	for _, what := range []string{"", "string without an end", "unknown escape", "expected four hexadecimal digits", "control character in a string"} {
		if ends[what] < 20 {
			t.Errorf("only %d long strings ended with %q", ends[what], what)
		}
	}
}

func TestScanKnowsEveryEscapeInLongStrings(t *testing.T) {
	long := strings.Repeat("long", 50)
	for c := range 256 {
		b := slices.Concat([]byte(`"`+long+`\`), []byte{byte(c)}, []byte(long+`"`))
		next, at, what := readText(b, 0)
		s := Scanner{B: b}
		if got := s.String(0); got != next || s.At != at || s.Reason != what {
			t.Errorf("%q: got %d, %d %q, want %d, %d %q", byte(c), got, s.At, s.Reason, next, at, what)
		}
	}
}

// randomText appends a string of about n bytes, and what may stand behind it.
func randomText(r *rand.Rand, b []byte, n int) []byte {
	common := []string{"a", "some words ", " ", "\x7f", "u", `\n`, `\"`, `\\`, `\\\\\\\"`, `\/\b\f\n\r\t`, `\u00e9`, `\uD83D\uDe00`}
	wide := []string{"ß", "語", "😀", "~"}
	rare := []string{`"`, `\`, `\x`, `\u12`, `\u12g4`, `\u123"`, "\x00", "\x1f", "\n", "\xff", "\xe8\xaa"}
	rarity, wideness := 1+r.IntN(400), r.IntN(8)
	b = append(b, '"')
	for end := len(b) + n; len(b) < end; {
		from := common
		if r.IntN(rarity) == 0 {
			from = rare
		} else if r.IntN(16) < wideness {
			from = wide
		}
		b = append(b, from[r.IntN(len(from))]...)
	}
	if r.IntN(8) > 0 {
		b = append(b, '"')
	}
	for range r.IntN(3) * 40 {
		b = append(b, "\\\"\x00\xffu,x"[r.IntN(7)])
	}
	return slices.Clip(b)
}

// readText is Scanner.String, byte by byte.
func readText(b []byte, start int) (next, at int, what string) {
	for i := start + 1; i < len(b); i++ {
		switch {
		case b[i] < ' ':
			return -1, i, "control character in a string"
		case b[i] == '"' && !utf8.Valid(b[start:i]):
			return -1, start, "invalid UTF-8 in the string"
		case b[i] == '"':
			return i + 1, 0, ""
		case b[i] != '\\':
			continue
		}
		if i++; i == len(b) || !bytes.ContainsRune([]byte(`"\/bfnrtu`), rune(b[i])) {
			return -1, i, "unknown escape"
		}
		for digits := 4; b[i] == 'u' && digits > 0; digits-- {
			if at := i + 5 - digits; at >= len(b) || !isHex(b[at]) {
				return -1, at, "expected four hexadecimal digits"
			}
		}
	}
	return -1, len(b), "string without an end"
}
