package router

import (
	"fmt"
	"testing"

	"toolman/jsonrpc"
	"toolman/router/upstream"
)

// queue is a Sender that keeps all frames until they are taken.
type queue struct {
	buf    []byte
	frames []jsonrpc.Span
}

func (q *queue) Queue(frame []byte, edits []jsonrpc.Edit) error {
	lo := len(q.buf)
	q.buf = jsonrpc.AppendSplice(q.buf, frame, edits...)
	q.frames = append(q.frames, jsonrpc.Span{Lo: lo, Hi: len(q.buf)})
	return nil
}

func (q *queue) Flush() {}

func (q *queue) clear() { q.buf, q.frames = q.buf[:0], q.frames[:0] }

// BenchmarkInFlight is what toolman's own code costs a call and its answer when
// many are under way.
func BenchmarkInFlight(bench *testing.B) {
	const window = 256
	s, u, _, _ := joined(bench, "s00", echoTool)
	var client, server queue
	s.Front.Out = &client
	upstream.Simulate(u).Connect(&server)
	text := `a tool said \"found it\" and went on to the next of 1,024 rows\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx`
	var calls [window][]byte
	for i := range calls {
		calls[i] = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%08d,"method":"tools/call","params":{"name":"s00_echo","arguments":{"text":"%08d%s"}}}`, 10000000+i, i, text)
	}
	var fromClient, fromServer reader
	var reply []byte
	bench.ReportAllocs()
	n := 0
	for bench.Loop() {
		fromClient.deliver(bench, s, calls[n%window])
		if n++; n%window != 0 {
			continue
		}
		for _, f := range server.frames {
			frame := server.buf[f.Lo:f.Hi]
			id := frame[len(`{"jsonrpc":"2.0","id":`):]
			for i, c := range id {
				if c == ',' {
					id = id[:i]
					break
				}
			}
			reply = append(reply[:0], `{"jsonrpc":"2.0","id":`...)
			reply = append(reply, id...)
			reply = append(reply, `,"result":{"content":[{"type":"text","text":"00000000`...)
			reply = append(reply, text...)
			reply = append(reply, `"}]}}`...)
			fromServer.deliver(bench, u, reply)
		}
		if len(client.frames) != window {
			bench.Fatalf("%d answers", len(client.frames))
		}
		client.clear()
		server.clear()
	}
}
