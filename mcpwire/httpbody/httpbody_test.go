package httpbody

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"toolman/jsonrpc"
)

// readAll reads events as text, one a line, until the stream ends.
func readAll(in io.Reader, limit int) string {
	var b strings.Builder
	r := NewEventReader(in, limit)
	for {
		e, err := r.Next()
		if long, ok := errors.AsType[*jsonrpc.TooLongError](err); ok {
			b.WriteString("long " + string(long.Head[:3]) + "…" + string(long.Tail[len(long.Tail)-3:]) + "\n")
			continue
		}
		if err != nil {
			return b.String() + "last " + r.LastID() + " retry " + r.Retry().String() + " " + err.Error()
		}
		b.WriteString(e.Name + "|" + e.ID + "|" + string(e.Data) + "\n")
	}
}

func TestEventsAreReadAsTheStandardSays(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"nothing":                          {"", "last  retry 0s EOF"},
		"one":                              {"event: message\nid: 1\ndata: {}\n\n", "message|1|{}\nlast 1 retry 0s EOF"},
		"without spaces, any line end":     {"event:a\r\ndata:b\r\r\ndata: c\r\n\r\ndata:d\n\n", "a||b\n||c\n||d\nlast  retry 0s EOF"},
		"CR alone":                         {"data: a\rdata: b\r\rdata: c\r\r", "||a\nb\n||c\nlast  retry 0s EOF"},
		"only one space goes":              {"data:  a\n\n", "|| a\nlast  retry 0s EOF"},
		"comments and unknown fields":      {": x\nfoo: bar\ndata: a\n:\n\n:\n\n", "||a\nlast  retry 0s EOF"},
		"no data, no event":                {"event: a\n\ndata: b\n\n", "||b\nlast  retry 0s EOF"},
		"no data and an id":                {"id: 7\ndata:\n\n", "|7|\nlast 7 retry 0s EOF"},
		"an event that does not end":       {"data: a\n\ndata: b\n", "||a\nlast  retry 0s EOF"},
		"an id that does not end":          {"id: 1\ndata: a\n\nid: 2\ndata: b\n", "|1|a\nlast 1 retry 0s EOF"},
		"an id that fits no header":        {"id: a\x00b\ndata: a\n\nid: a b\ndata: c\n\n", "||a\n||c\nlast  retry 0s EOF"},
		"retry":                            {"retry: 1500\ndata: a\n\nretry: x\n\nretry: -1\n\n", "||a\nlast  retry 1.5s EOF"},
		"a field without a colon":          {"data\ndata\n\n", "||\n\nlast  retry 0s EOF"},
		"data of 20 bytes":                 {"data: 01234567890123456789\n\n", "||01234567890123456789\nlast  retry 0s EOF"},
		"21 bytes":                         {"data: 012345678901234567890\n\ndata: a\n\n", "long 012…890\n||a\nlast  retry 0s EOF"},
		"21 bytes on two lines":            {"data: 0123456789\ndata: 01234567890\n\ndata: a\n\n", "long 012…890\n||a\nlast  retry 0s EOF"},
		"a long line":                      {"data: 012" + strings.Repeat("x", 100_000) + "345\ndata: 678\n\ndata: a\n\n", "long 012…678\n||a\nlast  retry 0s EOF"},
		"a long comment is not kept":       {":" + strings.Repeat("x", 100_000) + "\ndata: a\n\ndata: b\n\n", "||a\n||b\nlast  retry 0s EOF"},
		"a long event's id can be resumed": {"id: 5\ndata: 012345678901234567890\n\n", "long 012…890\nlast 5 retry 0s EOF"},
	} {
		for reader, in := range map[string]io.Reader{"whole": strings.NewReader(c.in), "byte by byte": iotest.OneByteReader(strings.NewReader(c.in))} {
			if got := readAll(in, 20); got != c.want {
				t.Errorf("%s, %s:\n got %q\nwant %q", name, reader, got, c.want)
			}
		}
	}
}

func TestAnEventIsThereAsSoonAsItsBlankLineIs(t *testing.T) {
	for _, end := range []string{"\n\n", "\r\n\r\n", "\r\r"} {
		in, out := io.Pipe()
		got := make(chan string)
		go func() {
			e, _ := NewEventReader(in, 100).Next()
			got <- string(e.Data)
		}()
		io.WriteString(out, "data: a"+end)
		select {
		case <-got:
		case <-time.After(time.Minute):
			t.Errorf("with %q the event waits for what follows", end)
		}
		out.Close()
	}
}

// FuzzEvents checks that what is written is read again, and that the reader keeps its bounds.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("data: a\n\n"), "message")
	f.Add([]byte(`{"jsonrpc":"2.0","method":"x"}`), "")
	f.Add([]byte("a\r\nb\rc\n"), "endpoint")
	f.Add([]byte("id: 1\ndata: "+strings.Repeat("x", 2<<10)+"\n\n:"+strings.Repeat("y", 2<<10)), "")
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		const limit = 1 << 10
		r := NewEventReader(iotest.HalfReader(bytes.NewReader(text)), limit)
		for {
			e, err := r.Next()
			if len(e.Data) > limit || len(r.line) > limit+fieldSpace {
				t.Fatalf("%d bytes of data, limit %d", len(e.Data), limit)
			}
			if _, long := errors.AsType[*jsonrpc.TooLongError](err); err != nil && !long {
				break
			}
		}
		if len(text) == 0 || len(text) > limit || bytes.ContainsAny(text, "\r\n") || strings.ContainsAny(name, "\r\n") || len(name) > fieldSpace {
			return
		}
		written := AppendEvent([]byte(KeepAlive), name, text)
		e, err := NewEventReader(bytes.NewReader(written), limit).Next()
		if err != nil || e.Name != name || !bytes.Equal(e.Data, text) {
			t.Fatalf("%q was read as %+v, %v", written, e, err)
		}
	})
}

func TestABodyIsReadWholeWhateverItAnnounces(t *testing.T) {
	for _, size := range []int{0, 1, 511, 512, firstRead - 1, firstRead, firstRead + 1, 3<<20 + 7} {
		want := bytes.Repeat([]byte("0123456"), size/7+1)[:size]
		for _, announced := range []int64{-1, 0, int64(size), int64(size) / 2, int64(size) * 2, 1 << 62} {
			got, err := new(Pool).Read(iotest.HalfReader(bytes.NewReader(want)), announced)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, of which %d are announced: got %d, %v", size, announced, len(got), err)
			}
			if announced == int64(size) && cap(got) > size+512+spare {
				t.Errorf("%d bytes, as announced, take %d", size, cap(got))
			}
		}
	}
	broken := errors.New("broken")
	if got, err := new(Pool).Read(io.MultiReader(bytes.NewReader([]byte("ab")), iotest.ErrReader(broken)), 5); !errors.Is(err, broken) || string(got) != "ab" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestABodyThatIsOnlyAnnouncedTakesLittleRoom(t *testing.T) {
	got, _ := new(Pool).Read(bytes.NewReader([]byte("{")), 1<<30)
	if cap(got) > firstRead {
		t.Errorf("one byte takes %d", cap(got))
	}
}
