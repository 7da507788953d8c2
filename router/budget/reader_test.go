package budget

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestAReaderCountsWhatItReads(t *testing.T) {
	a := New(Limits{Bytes: 100}, Limits{}).Open(Principal{Issuer: "i"})
	kept := a.Reader(strings.NewReader(strings.Repeat("x", 40)))
	if text, err := io.ReadAll(kept); err != nil || len(text) != 40 || a.Used(Bytes) != 40 {
		t.Fatalf("%d bytes, %v; %d are counted", len(text), err, a.Used(Bytes))
	}
	n := kept.Detach()
	if kept.Close(); n != 40 || a.Used(Bytes) != 40 {
		t.Errorf("%d of %d bytes are detached", n, a.Used(Bytes))
	}
	long := a.Reader(iotest.OneByteReader(strings.NewReader(strings.Repeat("x", 61))))
	text, err := io.ReadAll(long)
	if limit, ok := errors.AsType[*LimitError](err); !ok || limit.Resource != Bytes || len(text) != 60 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if long.Close(); a.Used(Bytes) != 40 {
		t.Errorf("%d bytes are counted after Close", a.Used(Bytes))
	}
}
