package trace_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"toolman/jsonrpc/trace"
	"toolman/jsonrpc/trace/redact"
)

// What the goroutine pays for a frame, redaction included: one frame at a time, waiting until it is
// written.
func BenchmarkWrite(b *testing.B) {
	for _, size := range []int{300, 10_000, 60_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			out := make(told, 1)
			w := trace.NewWriter(out, trace.Options{Secrets: redact.NewSecrets("hunter22", "swordfish", "correct horse battery staple")})
			<-out
			f := frame(size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				w.Frame(f)
				<-out
			}
			w.Close(time.Minute)
		})
	}
}

// What a producer pays for a frame while the goroutine writes as fast as it can, and drops what it
// cannot.
func BenchmarkFrame(b *testing.B) {
	for _, size := range []int{300, 10_000, 1_000_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			w := trace.NewWriter(io.Discard, trace.Options{})
			defer w.Close(time.Minute)
			f := &trace.Frame{Leg: trace.Client, Peer: "client", Name: "gh_create_issue", ID: []byte("7"), Call: 41, Rewrote: []string{"id"}, Msg: make([]byte, size)}
			b.ReportAllocs()
			for b.Loop() {
				w.Frame(f)
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	line := write(b, trace.Options{}, func(w *trace.Writer) { w.Frame(frame(300)) })[1]
	in := strings.Repeat(line+"\n", 100)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		for range trace.Read(strings.NewReader(in)) {
		}
	}
}

// told is an output that tells of every write.
type told chan struct{}

func (t told) Write(p []byte) (int, error) {
	t <- struct{}{}
	return len(p), nil
}

func frame(size int) *trace.Frame {
	const item = `{"type":"text","text":"{\"name\":\"value\",\"n\":1}","number":12345},`
	msg := `{"jsonrpc":"2.0","id":7,"result":{"content":[` + strings.Repeat(item, size/len(item)) + `{}]}}`
	return &trace.Frame{Leg: trace.Client, Peer: "client", Dir: trace.Out, Kind: trace.Response, Method: "tools/call", Name: "gh_create_issue",
		ID: []byte("7"), Call: 41, Status: trace.StatusOK, TotalTime: time.Millisecond, Rewrote: []string{"id"}, Msg: []byte(msg)}
}
