package filter

import (
	"fmt"
	"strings"
)

// Split splits a line into the arguments of Parse, as a shell does: at spaces, unless they are in
// quotes.
func Split(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	begun := false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, begun = r, true
		case r == ' ' || r == '\t':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %c has no end", quote)
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}
