package initcmd

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
)

func TestAsk(t *testing.T) {
	for _, tt := range []struct {
		typed, want string
		yes         bool
	}{
		{"\n", "yes", false}, {"n\n", "no", false}, {" NO \n", "no", false}, {"what\ny\n", "yes", false}, {"n\n", "yes", true}, {"n", "no", false},
	} {
		a := &asker{lines: bufio.NewReader(strings.NewReader(tt.typed)), out: io.Discard, yes: tt.yes}
		if got, err := a.ask(t.Context(), "Go on?", "yes", "no"); err != nil || got != tt.want {
			t.Errorf("%q: got %q, %v, want %q", tt.typed, got, err, tt.want)
		}
	}
	a := &asker{lines: bufio.NewReader(strings.NewReader("")), out: io.Discard}
	if got, err := a.ask(t.Context(), "Go on?", "yes", "no"); err == nil {
		t.Errorf("the end of the input is %q", got)
	}
	typed, _ := io.Pipe() // on which nobody types
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a = &asker{lines: bufio.NewReader(typed), out: io.Discard}
	if got, err := a.ask(ctx, "Go on?", "yes", "no"); err == nil || !strings.Contains(err.Error(), "nothing is changed") {
		t.Errorf("interrupted: %q, %v", got, err)
	}
	typed.Close()
}
