package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf16"

	"golang.org/x/term"
)

// isTerminal reports whether what is written to w is shown by a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// isHidden reports characters that a terminal obeys, that change the direction of writing, or that
// nobody sees.
func isHidden(r rune) bool {
	if r < 0x7f {
		return r < ' ' && r != '\n' && r != '\t'
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// escape is text with escapes in place of hidden characters. Bytes that are not UTF-8 become U+FFFD.
func escape(text string, of func(hidden rune) string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.IndexFunc(text, isHidden) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if isHidden(r) {
			b.WriteString(of(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// visible is a text for people.
func visible(text string) string {
	return escape(strings.ReplaceAll(text, "\r\n", "\n"), func(r rune) string { return fmt.Sprintf(`\u{%x}`, r) })
}

// visibleJSON is JSON that says the same as text, which is JSON.
func visibleJSON(text string) string {
	return escape(text, func(r rune) string {
		if r == '\r' { // only between tokens
			return " "
		}
		var b strings.Builder
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
		return b.String()
	})
}

// visibleTOML is TOML that says the same as text, which is TOML without literal strings and comments.
func visibleTOML(text string) string {
	return escape(text, func(r rune) string { return fmt.Sprintf(`\U%08x`, r) })
}
