package demo

import (
	"bytes"
	"context"
	"io"
	"os"
	"time"

	"toolman/jsonrpc/trace"
)

// traceWait is how often a trace is looked at for more.
const traceWait = 2 * time.Millisecond

// traceName is the trace's file in the temporary directory.
const traceName = "trace.jsonl"

// A tail reads a trace while it is being written.
type tail struct {
	file *os.File
	part []byte // the beginning of a line
	next []*trace.Record
}

// newTail makes the file at path for a gateway to write its trace to.
func newTail(path string) (*tail, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDONLY, 0o600)
	return &tail{file: file}, err
}

// record waits for the next record.
func (t *tail) record(ctx context.Context) (*trace.Record, error) {
	for {
		if err := t.read(); err != nil {
			return nil, err
		}
		if len(t.next) > 0 {
			r := t.next[0]
			t.next = t.next[1:]
			return r, nil
		}
		select {
		case <-time.After(traceWait):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// read takes over the whole lines there are.
func (t *tail) read() error {
	more, err := io.ReadAll(t.file)
	if err != nil {
		return err
	}
	t.part = append(t.part, more...)
	end := bytes.LastIndexByte(t.part, '\n') + 1
	for r, err := range trace.Read(bytes.NewReader(t.part[:end])) {
		if err != nil {
			return err
		}
		t.next = append(t.next, r)
	}
	t.part = bytes.Clone(t.part[end:])
	return nil
}
