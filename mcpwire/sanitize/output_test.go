package sanitize_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"toolman/mcpwire/sanitize"
)

func TestOutput(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "a plain line", "a plain line"},
		{"other scripts", "é 日本 👍", "é 日本 👍"},
		{"colours", "\x1b[1;31mred\x1b[0m.", "red."},
		{"cursor and erase", "\x1b[2K\x1b[1Gdone", "done"},
		{"private parameters", "\x1b[?25lhidden cursor\x1b[?25h", "hidden cursor"},
		{"window title with BEL", "\x1b]0;title\atext", "text"},
		{"window title with ST", "\x1b]0;title\x1b\\text", "text"},
		{"link", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"},
		{"character set", "\x1b(Btext", "text"},
		{"two byte sequence", "\x1bctext", "text"},
		{"sequence without end", "text\x1b[12;", "text"},
		{"string without end", "text\x1b]0;title", "text"},
		{"lone escape", "text\x1b", "text"},
		{"escape before a letter of another script", "\x1bé", "é"},
		{"control characters", "a\x00\a\b\v\f\x7fb", "a      b"},
		{"8 bit controls", "a\u009b31mb\u0085c", "a 31mb c"},
		{"tab", "a\tb", "a b"},
		{"direction marks", "a\u202eb\u2066c\u200fd\u061ce", "abcde"},
		{"zero width and tags", "a\u200bb\ufeffc\U000e0041d", "abcd"},
		{"line separators", "a\u2028b\u2029c", "a b c"},
		{"not UTF-8", "a\xff\xc3", "a?"},
		{"blanks", "  \t ", ""},
		{"indented", "  at main", "  at main"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := sanitize.Output([]byte(tt.in)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzOutput(f *testing.F) {
	f.Add([]byte("\x1b[1;31mred\x1b[0m \x1b]0;title\a\xff\u202e"))
	f.Add([]byte("\x1b\x1b[\x1b]\x1b\\\x1b("))
	f.Fuzz(func(t *testing.T, line []byte) {
		got := sanitize.Output(line)
		if len(got) > len(line) || !utf8.ValidString(got) {
			t.Fatalf("%q became %q", line, got)
		}
		if i := strings.IndexFunc(got, func(r rune) bool { return !unicode.IsGraphic(r) }); i >= 0 {
			t.Fatalf("%q became %q, which is not fit to be shown at %d", line, got, i)
		}
		if again := sanitize.Output([]byte(got)); again != got {
			t.Fatalf("%q became %q and then %q", line, got, again)
		}
	})
}
