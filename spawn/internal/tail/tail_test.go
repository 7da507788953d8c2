package tail

import (
	"fmt"
	"slices"
	"strings"
	"testing"
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
				tail := New(func(raw []byte) { got = append(got, string(raw)) })
				for part := range slices.Chunk([]byte(tt.in), chunk) {
					tail.Write(part)
				}
				tail.EndLine()
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
			tail := New(func([]byte) {})
			for i := range tt.lines {
				tail.Write(fmt.Appendf(nil, "%0*d\n", tt.size, i))
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
	tail := New(func([]byte) {})
	tail.Write([]byte("a\n\x1b[0m\n   \nb\n\x1b[2K"))
	if got, want := tail.String(), "a\nb"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
