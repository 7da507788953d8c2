package sanitize

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// summaryLimit is how many characters of a description the catalog shows.
const summaryLimit = 132

// Line returns text on one line. It removes hidden characters; spaces replace control characters,
// line separators and unusual spaces, and question marks bytes that are not UTF-8. The result is
// never longer than text.
func Line(text string) string {
	if isPlain(text) { // as nearly all is
		return text
	}
	return replace(strings.ToValidUTF8(text, "?"), noLimit, func(r rune) string {
		if isBlank(r) {
			return " "
		}
		return ""
	})
}

// Cut returns the first n characters of text as a line. An ellipsis follows if there were more.
func Cut(text string, n int) string {
	line := Line(bounded(text, n))
	if head := First(line, n); len(head) < len(line) {
		return head + "…"
	}
	return line
}

// Short returns the first 200 characters of a name as a line. An empty name becomes a pair of
// quotes.
func Short(name string) string {
	if name == "" {
		return `""`
	}
	return Line(First(name, 200))
}

// Summary returns the beginning of a description as the catalog shows it.
func Summary(text string) string {
	return First(Line(bounded(text, summaryLimit)), summaryLimit)
}

// Name returns a name as lists of names show it. A name that looks like a mark, a heading or
// another name with its description is quoted.
func Name(name string) string {
	name = Line(name)
	start, _ := utf8.DecodeRuneInString(name)
	if !unicode.IsLetter(start) && !unicode.IsDigit(start) && !strings.ContainsRune("_{/.", start) ||
		strings.Contains(name, ": ") || strings.HasSuffix(name, ":") {
		return strconv.Quote(name)
	}
	return name
}

// Quoted returns the first n characters of text in quotes, with escapes for hidden characters. An
// ellipsis marks that there were more.
func Quoted(text string, n int) string {
	if head := First(text, n); len(head) < len(text) {
		text = head + "…"
	}
	return Visible(strconv.Quote(text))
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

// bounded limits the work on a long text of which n characters are shown.
func bounded(text string, n int) string { return text[:min(len(text), 64*n)] }

// First returns the first n characters of text.
func First(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}
