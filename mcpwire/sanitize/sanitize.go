package sanitize

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// summaryLimit is how many characters of a description the catalog shows.
const summaryLimit = 132

// Summary is a description as the catalog shows it: one line of limited length
// in which nothing is hidden.
func Summary(text string) string {
	return Cut(Line(text[:min(len(text), 64*summaryLimit)]), summaryLimit)
}

// Line makes text safe to show on one line. Control characters and line
// separators become spaces; characters that cannot be seen, or that turn the
// direction of writing, are left out.
func Line(text string) string {
	if isPlain(text) { // as nearly all is
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case ' ' <= r && r <= '~':
			return r
		case unicode.IsControl(r), unicode.In(r, unicode.Zl, unicode.Zp):
			return ' '
		case unicode.In(r, unicode.Cf, unicode.Co, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
}

// isPlain reports whether all of a text is printable ASCII.
func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// Name is a name as lists of names show it. One that could be taken for
// a mark, a heading or another name with its description is shown in quotes.
func Name(name string) string {
	name = Line(name)
	first, _ := utf8.DecodeRuneInString(name)
	if !unicode.IsLetter(first) && !unicode.IsDigit(first) && !strings.ContainsRune("_{/.", first) ||
		strings.Contains(name, ": ") || strings.HasSuffix(name, ":") {
		return strconv.Quote(name)
	}
	return name
}

// Short is a name that a peer made up, as messages show it.
func Short(name string) string {
	if name == "" {
		return `""`
	}
	return Line(Cut(name, 200))
}

// Cut returns the first n characters of text.
func Cut(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}
