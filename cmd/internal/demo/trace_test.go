package demo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestTailWaitsForTheRestOfALine(t *testing.T) {
	path := filepath.Join(t.TempDir(), traceName)
	tail, err := newTail(path)
	if err != nil {
		t.Fatal(err)
	}
	defer tail.file.Close()
	appendTo(t, path, `{"v":1,"seq":1,"t":"event","event":"spawn"}`+"\n"+`{"v":1,"seq":2,"t":"ev`)
	wantSeq(t, tail, 1)
	if more := tail.read(); more != nil || len(tail.next) > 0 {
		t.Errorf("half a line gave %v, %v", tail.next, more)
	}
	appendTo(t, path, `ent","event":"ready"}`+"\n"+`{"v":1,"seq":3,"t":"event","event":"gone"}`+"\n")
	wantSeq(t, tail, 2)
	wantSeq(t, tail, 3)
}

func TestTailEndsItsWaitWithTheContext(t *testing.T) {
	tail, err := newTail(filepath.Join(t.TempDir(), traceName))
	if err != nil {
		t.Fatal(err)
	}
	defer tail.file.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	over := errors.New("over")
	cancel(over)
	if _, err := tail.record(ctx); err != over {
		t.Errorf("got %v, want %v", err, over)
	}
}

func wantSeq(t *testing.T, tail *tail, seq uint64) {
	t.Helper()
	r, err := tail.record(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.Seq != seq {
		t.Errorf("got record %d, want %d", r.Seq, seq)
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}
