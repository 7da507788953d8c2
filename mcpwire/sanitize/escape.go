package sanitize

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Visible shows more spaces and combining marks in a row than these as escapes: they could move or
// cover what stands next to them.
const (
	maxSpaces = 32
	maxMarks  = 4
	noLimit   = math.MaxInt
)

// Visible returns text on one line, with \u{…} in place of hidden characters and line breaks.
// Different texts stay different.
func Visible(text string) string {
	return replace(valid(strings.ReplaceAll(text, `\u{`, `\u{5c}u{`)), maxSpaces, braced)
}

// Lines returns text of several lines for a terminal, with \u{…} in place of hidden characters. It
// keeps line ends, tabs and spaces of all kinds.
func Lines(text string) string {
	return Escape(strings.ReplaceAll(text, "\r\n", "\n"), func(r rune) string {
		if r == '\n' || r == '\t' || unicode.Is(unicode.Zs, r) {
			return string(r)
		}
		return braced(r)
	})
}

// JSON returns JSON with the same meaning as text, which is JSON, with escapes in place of hidden
// characters.
func JSON(text string) string {
	return Escape(text, func(r rune) string {
		switch r {
		case '\n', '\t': // only between tokens
			return string(r)
		case '\r':
			return " "
		}
		var b strings.Builder
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
		return b.String()
	})
}

// Escape returns text with the result of escape in place of each hidden character, line break and
// tab. Bytes that are not UTF-8 become U+FFFD.
func Escape(text string, escape func(hidden rune) string) string {
	return replace(valid(text), noLimit, escape)
}

func braced(r rune) string { return fmt.Sprintf(`\u{%x}`, r) }

func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// replace puts the result of with in place of each hidden character, of combining marks after the
// fourth in a row, and of spaces beyond a number in a row.
func replace(text string, spacesAllowed int, with func(rune) string) string {
	var b strings.Builder
	b.Grow(len(text))
	spaces, marks := 0, 0
	for _, r := range text {
		spaces, marks = count(spaces, r == ' '), count(marks, unicode.IsMark(r))
		if isHidden(r) || spaces > spacesAllowed || marks > maxMarks {
			b.WriteString(with(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// count returns the length of a run after one more character.
func count(run int, belongs bool) int {
	if belongs {
		return run + 1
	}
	return 0
}

// isHidden reports whether a character is blank and not the ASCII space, has no width, changes how
// others look, is a command to a terminal, or has no agreed meaning.
func isHidden(r rune) bool {
	if ' ' <= r && r <= '~' {
		return false
	}
	return isBlank(r) || !unicode.IsPrint(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// isBlank reports whether a space can replace a hidden character.
func isBlank(r rune) bool {
	const blankBraille = '\u2800' // a symbol by its category
	return r == blankBraille || unicode.IsControl(r) || unicode.In(r, unicode.Zs, unicode.Zl, unicode.Zp)
}
