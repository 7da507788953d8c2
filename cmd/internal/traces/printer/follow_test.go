package printer_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolman/cmd/internal/traces/printer"
)

// A following is a Run with Follow that a test reads line by line.
type following struct {
	t      *testing.T
	path   string
	lines  *bufio.Scanner
	stderr *bufio.Scanner
	stop   context.CancelFunc
	ended  chan error
}

func follow(t *testing.T, o printer.Options) *following {
	ctx, stop := context.WithCancel(t.Context())
	out, outW := io.Pipe()
	problems, problemsW := io.Pipe()
	f := &following{t, o.File, bufio.NewScanner(out), bufio.NewScanner(problems), stop, make(chan error, 1)}
	go func() {
		o.Follow = true
		f.ended <- printer.Run(ctx, o, outW, problemsW)
		outW.Close()
		problemsW.Close()
	}()
	t.Cleanup(stop)
	return f
}

func (f *following) write(s string, flags int) {
	f.t.Helper()
	file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_APPEND|flags, 0o600)
	if err == nil {
		_, err = file.WriteString(s)
		file.Close()
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *following) expect(part string) {
	f.t.Helper()
	if !f.lines.Scan() || !strings.Contains(f.lines.Text(), part) {
		f.t.Fatalf("got %q, want %s", f.lines.Text(), part)
	}
}

func event(name string) string {
	return `{"t":"event","us":1,"peer":"gh","event":"` + name + `"}` + "\n"
}

func TestFollow(t *testing.T) {
	f := follow(t, printer.Options{File: filepath.Join(t.TempDir(), "t.jsonl"), Frames: true})
	if !f.stderr.Scan() || !strings.Contains(f.stderr.Text(), "waiting for") {
		t.Fatalf("stderr: %q", f.stderr.Text())
	}
	f.write(event("one")+event("two")[:10], os.O_CREATE)
	f.expect("one")
	f.write(event("two")[10:], 0) // the rest of the torn line
	f.expect("two")
	f.write("", os.O_TRUNC) // a new run of a toolman that begins the file anew
	f.write(event("3"), 0)
	f.expect("3")
	f.stop()
	if err := <-f.ended; err != nil {
		t.Error(err)
	}
}

func TestFollowAFileThatIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(path, []byte(event("old")+`{"t":"ev`), 0o600); err != nil {
		t.Fatal(err)
	}
	f := follow(t, printer.Options{File: path, Frames: true})
	f.expect("old")
	os.Rename(path, path+".1") // on Windows an open file stays, and the next write is appended to it
	f.write("\n"+event("new"), os.O_CREATE)
	go f.stderr.Scan() // the line that the old file ends in
	f.expect("new")
}

func TestFollowEndsWithPendingCalls(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	os.WriteFile(path, []byte(event("one")+`{"t":"frame","leg":"client","peer":"c","dir":"in","kind":"request","method":"tools/call","call":"c1"}`+"\n"+event("two")), 0o600)
	f := follow(t, printer.Options{File: path})
	f.expect("peers") // the head of the table
	f.expect("one")
	f.expect("two")
	f.stop()
	f.expect("pending")
	if err := <-f.ended; err != nil {
		t.Error(err)
	}
}

func TestStdinIsLeftWhenToldTo(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	in, inW := io.Pipe() // never closed: a toolman that goes on writing to stderr
	defer inW.Close()
	out, outW := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- printer.Run(ctx, printer.Options{File: "-", Stdin: in, Frames: true}, outW, io.Discard)
	}()
	go io.WriteString(inW, event("one"))
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, "one") {
		t.Fatalf("%q %v", line, err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
