package pins

import (
	"fmt"
	"strings"
	"unicode"
)

// Visible is text in which nothing hides: what cannot be seen on a line, turns the direction of writing or moves a
// terminal's cursor is written as \u{…}. Different texts stay different.
func Visible(text string) string {
	var b strings.Builder
	for i, r := range text {
		if !strings.HasPrefix(text[i:], `\u{`) && unicode.IsPrint(r) && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	return b.String()
}
