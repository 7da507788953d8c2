//go:build unix

package router

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"toolman/jsonrpc"
	"toolman/jsonrpc/trace"
	"toolman/jsonrpc/trace/redact"
)

// BenchmarkTraced is what a call costs without and with a trace: the time of its caller, and the
// CPU time of the whole process, which includes that of the goroutine that writes the trace. A call
// has four frames in the trace.
func BenchmarkTraced(bench *testing.B) {
	const window = 256
	text := strings.Repeat("x", 100)
	call := []byte(`{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"ns_echo","arguments":{"text":"` + text + `"}}}`)
	for _, name := range []string{"off", "on"} {
		bench.Run(name, func(bench *testing.B) {
			o, written := Options{}, lines{}
			if name == "on" {
				o.Trace = trace.NewWriter(&written, trace.Options{Secrets: redact.NewSecrets("hunter22", "swordfish", "correct horse battery staple")})
			}
			s, u, _, server := joinedWith(bench, o, "ns", echoTool)
			var fromClient, fromServer reader
			var m jsonrpc.Message
			var reply []byte
			bench.ReportAllocs()
			before, n := cpu(bench), 0
			for bench.Loop() {
				if n++; n%window == 0 && name == "on" {
					written.await(4 * n) // so nothing is dropped: every frame is paid for
				}
				fromClient.deliver(bench, s, call)
				jsonrpc.Scan(server.frame, &m)
				reply = jsonrpc.AppendResult(reply[:0], m.Bytes(m.ID), []byte(`{"content":[{"type":"text","text":"`+text+`"}]}`))
				fromServer.deliver(bench, u, reply)
			}
			o.Trace.Close(time.Minute)
			bench.ReportMetric(float64(cpu(bench)-before)/float64(bench.N), "cpu-ns/op")
		})
	}
}

// lines counts what is written to it.
type lines struct {
	mu   sync.Mutex
	n    int
	more sync.Cond
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n += bytes.Count(p, []byte("\n"))
	if l.more.L != nil {
		l.more.Broadcast()
	}
	return len(p), nil
}

// await waits until about n lines were written.
func (l *lines) await(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.more.L = &l.mu; l.n < n-8; {
		l.more.Wait()
	}
}

// cpu returns the CPU time of this process.
func cpu(t testing.TB) time.Duration {
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
