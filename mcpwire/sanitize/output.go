package sanitize

import (
	"regexp"
	"strings"
	"sync"
)

const escape = "\x1b"

// escapeSequence matches an escape sequence (ECMA-48): a control sequence, a command string up to
// BEL or ESC \, or any other. A sequence may be cut off.
var escapeSequence = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)\x1b(?:\[[ -?]*[@-~]?|[\]PX^_].*?(?:\x07|\x1b\\|$)|[ -/]*[0-~]?)`)
})

// Output returns a line of what a program has printed as text that is safe to show, without escape
// sequences and trailing spaces. The result is never longer than the line.
func Output(line []byte) string {
	text := string(line)
	if strings.Contains(text, escape) {
		text = escapeSequence().ReplaceAllString(text, "")
	}
	return strings.TrimRight(Line(text), " ")
}
