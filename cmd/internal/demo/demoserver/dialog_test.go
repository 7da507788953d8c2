package demoserver

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var update = flag.Bool("update", false, "rewrite the servers' lines in testdata")

// TestDialogs plays each testdata/SERVER-*.txt: lines with > go to the server, the server's own
// must be those with <. A line with = waits, and # is a comment.
func TestDialogs(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no dialogs: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			server, _, _ := strings.Cut(name, "-")
			var got string
			synctest.Test(t, func(t *testing.T) { got = play(t, server, string(want)) })
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(want) {
				t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
			}
		})
	}
}

// play returns the dialog with the lines that the server has really written.
func play(t *testing.T, server, dialog string) string {
	in, client := io.Pipe()
	out := &lines{}
	ended := make(chan error, 1)
	go func() { ended <- Run(t.Context(), server, in, out) }()
	var got strings.Builder
	for line := range strings.Lines(dialog) {
		kind, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch kind {
		case "<":
			continue
		case ">":
			if _, err := io.WriteString(client, text+"\n"); err != nil {
				t.Fatalf("writing %s: %v", text, err)
			}
		case "=":
			pause, err := time.ParseDuration(text)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(pause)
		}
		synctest.Wait()
		got.WriteString(line)
		got.WriteString(out.take())
	}
	client.Close()
	if err := <-ended; err != nil {
		t.Errorf("the server ended with %v", err)
	}
	got.WriteString(out.take())
	return got.String()
}

// lines collects what a server writes. Each write has to be one whole line.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if bytes.IndexByte(p, '\n') != len(p)-1 {
		l.text.WriteString("not one line: ")
	}
	l.text.WriteString("< ")
	return l.text.Write(p)
}

func (l *lines) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return l.text.String()
}

func TestCrashEndsTheServerWithoutAnAnswer(t *testing.T) {
	out := &lines{}
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"crash"}}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"ping"}` + "\n")
	if err := Run(t.Context(), "calc", in, out); err != ErrCrash {
		t.Errorf("got the error %v, want %v", err, ErrCrash)
	}
	if got := out.take(); got != "" {
		t.Errorf("got %q, want no answer", got)
	}
}

func TestEndOfTheContextEndsAServerThatReads(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, client := io.Pipe()
	defer client.Close()
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, "notes", in, &lines{}) }()
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("got the error %v, want none", err)
	}
}

func TestUnknownServerNamesThoseThereAre(t *testing.T) {
	err := Run(t.Context(), "nots", strings.NewReader(""), &lines{})
	if err == nil || !strings.Contains(err.Error(), "notes and calc") {
		t.Errorf("got the error %v, want one that names notes and calc", err)
	}
}

func TestEndOfInputEndsSlowCallsUnanswered(t *testing.T) {
	out := &lines{}
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"export"}}` + "\n")
	if err := Run(t.Context(), "notes", in, out); err != nil {
		t.Fatal(err)
	}
	if got := out.take(); got != "" {
		t.Errorf("got %q, want no answer", got)
	}
}
