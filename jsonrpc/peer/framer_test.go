package peer

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"toolman/jsonrpc"
)

// cut runs a stream through a framer in reads of the given sizes, over and over until it ends, and
// tells what came out. It spoils the shared buffer between reads, as the peers of a Loop do to each
// other.
func cut(f *framer, stream string, reads ...int) (out []string) {
	shared := make([]byte, 300)
	add := func(line []byte, err error) {
		if long, ok := errors.AsType[*jsonrpc.TooLongError](err); ok {
			out = append(out, fmt.Sprintf("too long: %d of %d, %q … %q", long.Size, long.Limit, long.Head, long.Tail))
		} else {
			out = append(out, string(line))
		}
	}
	for i := 0; len(stream) > 0; i++ {
		buf := f.space(shared)
		n := copy(buf[:min(len(buf), max(1, reads[i%len(reads)]))], stream)
		stream = stream[n:]
		f.fill(buf, n)
		for line, err := f.next(); line != nil || err != nil; line, err = f.next() {
			add(line, err)
		}
		f.rest()
		for i := range shared {
			shared[i] = '!'
		}
	}
	if line, err := f.last(); len(line) > 0 || err != nil {
		add(line, err)
	}
	return out
}

// lines is what a framer should give, told in another way.
func lines(stream string, limit int) (out []string) {
	rest := strings.Split(stream, "\n")
	for _, line := range rest {
		if len(line) > limit {
			out = append(out, fmt.Sprintf("too long: %d of %d, %q … %q", len(line), limit,
				line[:min(len(line), (4<<10))], line[max(0, len(line)-256):]))
			continue
		}
		if line = strings.Trim(strings.TrimPrefix(line, "\uFEFF"), " \t\r"); line != "" {
			out = append(out, line)
		}
	}
	return out
}

var streams = []struct {
	name, stream string
	limit        int
	want         []string
}{
	{"nothing", "", 99, nil},
	{"one line", "a\n", 99, []string{"a"}},
	{"two lines", "a\nbc\n", 99, []string{"a", "bc"}},
	{"a line without its end", "a\nbc", 99, []string{"a", "bc"}},
	{"CRLF", "a\r\nbc\r\n", 99, []string{"a", "bc"}},
	{"blank lines", "\n\r\n \t\n\n\na\n\n", 99, []string{"a"}},
	{"white space around", " \ta b \r\n\r", 99, []string{"a b"}},
	{"a byte order mark", "\uFEFFa\n\uFEFF \r\n\uFEFF\nb\n", 99, []string{"a", "b"}},
	{"a byte order mark inside", "a\uFEFFb\n", 99, []string{"a\uFEFFb"}},
	{"a CR inside", "a\rb\n", 99, []string{"a\rb"}},
	{"NUL and high bytes", "\x00\xff\n\x80\n", 99, []string{"\x00\xff", "\x80"}},
	{"exactly at the limit", "12345678\nabc\n", 8, []string{"12345678", "abc"}},
	{"exactly at the limit without its end", "12345678", 8, []string{"12345678"}},
	{"one over", "123456789\nabc\n", 8, []string{`too long: 9 of 8, "123456789" … "123456789"`, "abc"}},
	{"one over by its CR", "12345678\r\nabc\n", 8, []string{`too long: 9 of 8, "12345678\r" … "12345678\r"`, "abc"}},
	{"too long and without an end", "abc\n123456789", 8, []string{"abc", `too long: 9 of 8, "123456789" … "123456789"`}},
	{"too long twice", "123456789\n\nabcdefghi\nabc\n", 8, []string{`too long: 9 of 8, "123456789" … "123456789"`, `too long: 9 of 8, "abcdefghi" … "abcdefghi"`, "abc"}},
}

func TestFramerCutsLines(t *testing.T) {
	for _, tt := range streams {
		t.Run(tt.name, func(t *testing.T) {
			if want := lines(tt.stream, tt.limit); !slices.Equal(want, tt.want) {
				t.Errorf("the oracle of the fuzz target says %q, want %q", want, tt.want)
			}
			for size := 1; size <= len(tt.stream)+1; size++ {
				if got := cut(&framer{limit: tt.limit}, tt.stream, size); !slices.Equal(got, tt.want) {
					t.Errorf("in reads of %d: got %q, want %q", size, got, tt.want)
				}
			}
		})
	}
}

// Lines that outgrow every buffer come whole, whatever stood before them.
func TestFramerGivesLargeLinesWhole(t *testing.T) {
	large := func(n int, c byte) string { return strings.Repeat(string(c), n) }
	stream := "a\n" + large(3*readSize, 'b') + "\nc\n" + large(40*readSize, 'd') + "\r\n" + large(17*readSize+1, 'e') + "\nf"
	want := lines(stream, 1<<30)
	for _, reads := range [][]int{{1 << 20}, {readSize}, {299, 1, 70_001}} {
		if got := cut(&framer{limit: 1 << 30}, stream, reads...); !slices.Equal(got, want) {
			t.Errorf("in reads of %d: %d frames, some differ", reads, len(got))
		}
	}
}

func TestFramerKeepsTheTwoEndsOfALineOverTheLimit(t *testing.T) {
	line := make([]byte, 10*(4<<10))
	for i := range line {
		line[i] = 'a' + byte(rand.IntN(26))
	}
	stream := string(line) + "\nnext\n"
	for _, limit := range []int{10, (4 << 10) / 2, (4 << 10), 9 * (4 << 10)} {
		want := lines(stream, limit)
		for _, reads := range [][]int{{1}, {100}, {299}, {1 << 20}, {17, 1, 3000}} {
			if got := cut(&framer{limit: limit}, stream, reads...); !slices.Equal(got, want) {
				t.Errorf("limit %d, in reads of %d: the report depends on the reads", limit, reads)
			}
		}
	}
}

// A line that never ends costs no more than the limit and a read or two.
func TestFramerStaysSmallUnderAnEndlessLine(t *testing.T) {
	const limit = 1 << 20
	f := framer{limit: limit}
	shared := make([]byte, readSize)
	most := 0
	for range 64 * limit / readSize {
		buf := f.space(shared)
		f.fill(buf, len(buf))
		if line, err := f.next(); line != nil || err != nil {
			t.Fatalf("got %.20q, %v from a line that has not ended", line, err)
		}
		f.rest()
		most = max(most, cap(f.own))
	}
	if most > 2*limit+2*readSize {
		t.Errorf("the buffer grew to %d", most)
	}
	if cap(f.own) > 16*readSize && len(f.data) == 0 {
		t.Errorf("the buffer of %d bytes was kept though nothing is in it", cap(f.own))
	}
	f.fill(f.space(shared), copy(f.space(shared), "\nabc\n"))
	if _, err := f.next(); err == nil {
		t.Error("the long line was not reported")
	}
	if line, err := f.next(); string(line) != "abc" || err != nil {
		t.Errorf("after it came %q, %v", line, err)
	}
}

func TestFramerGivesALargeBufferBack(t *testing.T) {
	f := framer{limit: 1 << 30}
	large := strings.Repeat("x", 64*readSize) + "\n"
	cut(&f, large+large, readSize)
	if cap(f.own) == 0 {
		t.Error("the buffer was given back while lines were large")
	}
	cut(&f, "small\n", 100)
	if f.own != nil {
		t.Errorf("a buffer of %d bytes is kept for small lines", cap(f.own))
	}
}

func FuzzFramer(f *testing.F) {
	for _, s := range streams {
		f.Add([]byte(s.stream), []byte{1, 2, 200}, uint16(s.limit))
	}
	f.Add(bytes.Repeat([]byte("0123456789\r\n"), 60), []byte{255, 1}, uint16(11))
	f.Add(append(bytes.Repeat([]byte("x"), 900), "\ny"...), []byte{255}, uint16(600))
	f.Fuzz(func(t *testing.T, stream, sizes []byte, limit uint16) {
		reads := []int{1 << 20}
		for _, n := range sizes {
			reads = append(reads, int(n))
		}
		want := lines(string(stream), int(limit))
		if got := cut(&framer{limit: int(limit)}, string(stream), reads...); !slices.Equal(got, want) {
			t.Fatalf("in reads of %d: got %q, want %q", reads, got, want)
		}
	})
}
