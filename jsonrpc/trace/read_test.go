package trace

import (
	"strings"
	"testing"
)

func TestReadSkipsALineOverTheLimit(t *testing.T) {
	const limit = 200_000 // several of the reader's buffers
	at, over := strings.Repeat(" ", limit-13-1)+`{"t":"event"}`, strings.Repeat(" ", limit-13)+`{"t":"event"}`
	in := strings.Join([]string{over, at, over, at, over}, "\n")
	got := ""
	for rec, err := range read(strings.NewReader(in), limit) {
		switch {
		case err != nil:
			got += err.Error() + "\n"
		default:
			got += rec.Type + "\n"
		}
	}
	want := "line 1 is not a trace record: it is too long\nevent\nline 3 is not a trace record: it is too long\nevent\nevent\n"
	if got != want { // the last one has no newline, and so just fits
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
