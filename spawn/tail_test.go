package spawn

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestTailSplitsLines(t *testing.T) {
	long := strings.Repeat("x", maxLine-len(cutMark))
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"lines", "a\nb\n", []string{"a", "b"}},
		{"no line end", "a\nb", []string{"a", "b"}},
		{"carriage returns", "a\r\nb\rc\r", []string{"a", "b", "c"}},
		{"blank lines", "\n\na\n\n", []string{"a"}},
		{"a line that just fits", long + "\nb\n", []string{long, "b"}},
		{"a line that does not", long + "xyz\nb\n", []string{long + cutMark, "b"}},
		{"a line without end", strings.Repeat("x", 10*maxLine), []string{long + cutMark}},
	} {
		for _, chunk := range []int{1, 7, 1 << 20} {
			t.Run(fmt.Sprintf("%s by %d", tt.name, chunk), func(t *testing.T) {
				var got []string
				tail := newTail(func(raw []byte) { got = append(got, string(raw)) })
				for part := range slices.Chunk([]byte(tt.in), chunk) {
					tail.write(part)
				}
				tail.endLine()
				if !slices.Equal(got, tt.want) {
					t.Errorf("got %.80q, want %.80q", got, tt.want)
				}
			})
		}
	}
}

func TestTailKeepsTheLastLines(t *testing.T) {
	for _, tt := range []struct {
		name        string
		lines, size int
		want        int
	}{
		{"few", 3, 10, 3},
		{"as many as it holds", 20, 10, 20},
		{"many", 1000, 10, 20},
		{"long", 30, 1000, 4},
		{"very long", 30, 2 * maxLine, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tail := newTail(func([]byte) {})
			for i := range tt.lines {
				tail.write(fmt.Appendf(nil, "%0*d\n", tt.size, i))
			}
			got := tail.String()
			if len(got) > tailBytes {
				t.Errorf("%d bytes, want at most %d", len(got), tailBytes)
			}
			lines := strings.Split(got, "\n")
			if len(lines) != tt.want {
				t.Fatalf("%d lines, want %d", len(lines), tt.want)
			}
			for i, line := range lines {
				if tt.size < maxLine && line != fmt.Sprintf("%0*d", tt.size, tt.lines-tt.want+i) {
					t.Errorf("line %d is %q", i, line)
				}
			}
		})
	}
}

func TestTailLeavesOutLinesThatShowNothing(t *testing.T) {
	tail := newTail(func([]byte) {})
	tail.write([]byte("a\n\x1b[0m\n   \nb\n\x1b[2K"))
	if got, want := tail.String(), "a\nb"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestClean(t *testing.T) {
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
			if got := clean([]byte(tt.in)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzClean(f *testing.F) {
	f.Add([]byte("\x1b[1;31mred\x1b[0m \x1b]0;title\a\xff\u202e"))
	f.Add([]byte("\x1b\x1b[\x1b]\x1b\\\x1b("))
	f.Fuzz(func(t *testing.T, line []byte) {
		got := clean(line)
		if len(got) > len(line) || !utf8.ValidString(got) {
			t.Fatalf("%q became %q", line, got)
		}
		if i := strings.IndexFunc(got, func(r rune) bool { return !unicode.IsGraphic(r) }); i >= 0 {
			t.Fatalf("%q became %q, which is not fit to be shown at %d", line, got, i)
		}
		if again := clean([]byte(got)); again != got {
			t.Fatalf("%q became %q and then %q", line, got, again)
		}
	})
}
