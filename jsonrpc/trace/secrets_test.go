package trace_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"toolman/jsonrpc/trace"
)

func TestALentSecretIsOneUntilItIsTakenBackAsOftenAsItWasLent(t *testing.T) {
	s := trace.NewScrubber([]string{"always-one"})
	first, second := s.Lend("swordfish", "always-one"), s.Lend("swordfish")
	const text = "swordfish, always-one"
	for _, step := range []struct {
		back func()
		want string
	}{{func() {}, "[redacted], [redacted]"}, {first, "[redacted], [redacted]"}, {second, "swordfish, [redacted]"}} {
		step.back()
		if got := s.Text(text); got != step.want {
			t.Errorf("got %q, want %q", got, step.want)
		}
	}
}

// What came while a secret was lent is without it, however late it is written.
func TestATraceIsWithoutWhatWasLentWhenItCame(t *testing.T) {
	out := &barred{open: make(chan struct{})}
	w := trace.NewWriter(out, trace.Options{})
	back := w.LendSecrets("swordfish")
	w.Event(trace.Event{Event: trace.EventReady, Text: "first swordfish"})
	back()
	w.Event(trace.Event{Event: trace.EventReady, Text: "then swordfish"})
	close(out.open)
	if err := w.Close(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	if text := out.buf.String(); !strings.Contains(text, "first [redacted]") || !strings.Contains(text, "then swordfish") {
		t.Errorf("got %s", text)
	}
	var none *trace.Writer
	none.LendSecrets("x")()
}

// A barred output takes nothing until it is open.
type barred struct {
	open chan struct{}
	buf  bytes.Buffer
}

func (g *barred) Write(p []byte) (int, error) {
	<-g.open
	return g.buf.Write(p)
}
