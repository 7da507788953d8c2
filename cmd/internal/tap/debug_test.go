package tap

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolman/cmd/internal/tap/record"
	"toolman/jsonrpc/trace"
	"toolman/router/breakpoint"
)

// With --debug and without a message that is stopped, every byte passes as it came.
func TestEveryBytePassesWithDebug(t *testing.T) {
	long := `{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("x", mostStopped) + `"}`
	text := []byte("\n\r\n{}\n{\"jsonrpc\":\"2.0\",\"id\":1.0,\"method\":\"a\"}\r\n  {\"jsonrpc\" : \"2.0\",\"method\":\"b\\u00e9\"} \t\n[1,2]\nnot json\xff\n" +
		long + "\n" + long + long + "\n{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{}}\nno end")
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	from, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	rec := record.New(trace.NewWriter(io.Discard, trace.Options{}), "s")
	defer rec.Close(time.Second)
	conn := rec.NewConn()
	client := newPump(from, out, conn.Messages(trace.In))
	nowhere, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	server := newPump(nowhere, nowhere, conn.Messages(trace.Out))
	d := breakpoint.New(breakpoint.Options{})
	c := d.Open(func(breakpoint.Event) {})
	if _, err := c.AddRule(breakpoint.Rule{Filter: []string{"method:none"}, Action: breakpoint.Drop}); err != nil {
		t.Fatal(err)
	}
	stop(d, client, server, func() {}, func() {})
	go client.run()
	for rest := text; len(rest) > 0; {
		n := min(len(rest), 1+rand.IntN(1<<rand.IntN(20)))
		if _, err := in.Write(rest[:n]); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	in.Close()
	<-client.done
	got, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, text) {
		t.Errorf("%d bytes have passed, other than the %d that came", len(got), len(text))
	}
	if _, err := c.AddRule(breakpoint.Rule{Action: breakpoint.Hold}); err == nil {
		t.Error("a message can be held after the end of the client")
	}
}
