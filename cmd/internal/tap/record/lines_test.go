package record

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// split gives a stream in pieces to a splitter, and returns the lines.
func split(pieces ...[]byte) []string {
	var lines []string
	found := func(l *line) {
		if !l.whole() {
			lines = append(lines, fmt.Sprintf("%d+%d of %d", len(l.head), len(l.tail), l.size))
			return
		}
		lines = append(lines, string(l.head))
	}
	var s splitter
	for _, p := range pieces {
		if p == nil {
			s.gap()
			continue
		}
		s.write(p, found)
	}
	s.end(found)
	return lines
}

func FuzzSplitter(f *testing.F) {
	f.Add([]byte("a\nbc\r\n\n\xffd"), uint16(3), uint16(4))
	f.Add([]byte("\n\n{}"), uint16(0), uint16(1))
	f.Fuzz(func(t *testing.T, stream []byte, a, b uint16) {
		x := min(int(a), len(stream))
		y := min(x+int(b), len(stream))
		want := strings.Split(string(stream), "\n")
		if last := len(want) - 1; want[last] == "" {
			want = want[:last]
		}
		got := split(stream[:x:x], stream[x:y:y], stream[y:])
		// Lines without anything are passed on only where their end is.
		if strings.Join(got, "\n") != strings.Join(want, "\n") || len(got) != len(want) {
			t.Fatalf("%q in pieces of %d and %d: %q, want %q", stream, x, y-x, got, want)
		}
	})
}

func TestALongLineTakesLimitedMemory(t *testing.T) {
	piece := bytes.Repeat([]byte{'x'}, 1<<20)
	var s splitter
	for i := range 100 {
		s.write(piece, func(*line) { t.Errorf("a line after %d pieces", i) })
	}
	s.write([]byte("the end"), nil)
	if cap(s.head) > 2*maxKept || cap(s.tail) > 2*tailSize {
		t.Errorf("%d and %d bytes are kept", cap(s.head), cap(s.tail))
	}
	n := 0
	s.write([]byte("\nnext\n"), func(l *line) {
		if n++; n == 1 && (l.size != 100<<20+7 || !strings.HasSuffix(string(l.tail), "xxthe end") || len(l.tail) != tailSize) {
			t.Errorf("%d bytes, tail %q", l.size, l.tail)
		}
		if n == 2 && string(l.head) != "next" {
			t.Errorf("then %q", l.head)
		}
	})
	if n != 2 || cap(s.head) > 1<<20 {
		t.Errorf("%d lines, %d bytes are kept", n, cap(s.head))
	}
}

func TestTheLineAroundAGapIsLeftOut(t *testing.T) {
	for _, tt := range []struct{ pieces, want string }{
		{"a\nb|GAP|c\nd\n", "[a d]"},
		{"a\n|GAP|b|c", "[a]"},
		{"a\n|GAP|\nb", "[a b]"},
	} {
		var pieces [][]byte
		for _, p := range strings.Split(tt.pieces, "|") {
			if p == "GAP" {
				pieces = append(pieces, nil)
			} else {
				pieces = append(pieces, []byte(p))
			}
		}
		if got := fmt.Sprint(split(pieces...)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.pieces, got, tt.want)
		}
	}
}
