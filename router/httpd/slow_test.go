package httpd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolman/fixtures/fakemcp"
	"toolman/mcpwire/httpheader"
	"toolman/router/httpd/presence"
)

// dial sends a request and reads the header of the response, and nothing else.
func (f *front) dial(q request) net.Conn {
	f.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(f.url, "http://"), "/mcp"))
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { conn.Close() })
	conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", len(q.body))
	for key, value := range q.header {
		fmt.Fprintf(conn, "%s: %s\r\n", key, value)
	}
	io.WriteString(conn, "\r\n"+q.body)
	return conn
}

func TestAClientThatDoesNotReadLosesItsStreamAndNobodyElseWaits(t *testing.T) {
	flood := fakemcp.Line(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{{token}},"progress":1,"message":"{{repeat 100000 x}}"}}`)
	f := newFront(t, echoing(fakemcp.Modern, map[string][]fakemcp.Step{
		"tools/call flood": {fakemcp.Repeat(400, flood), fakemcp.AwaitCancel()}, // of 40 MB, where 8 MiB may wait
	}), Options{})
	deaf := f.dial(toolCall(`1`, "fs_flood", `{}`, `,"progressToken":1`))
	if _, err := http.ReadResponse(bufio.NewReader(deaf), nil); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		f.do(toolCall(`1`, "fs_echo", `{}`, "")).wants(200, httpheader.JSON, echoed(`1`, `{}`, ""))
	}
	s := f.shared()
	await(t, "the stream is given up", func() bool { return len(s.slow()) > 0 || f.e.Calls() == 0 })
	deaf.Close()
	await(t, "its call is over", func() bool { return f.e.Calls() == 0 })
}

// shared returns the session of the modern era that requests without a caller have.
func (f *front) shared() *session {
	f.t.Helper()
	var c presence.Caller
	s, err := f.e.sessions.AcquireOrNew(context.Background(), c.Key(), &c)
	if err != nil {
		f.t.Fatal(err)
	}
	return s
}

// slow are the open calls whose streams were given up.
func (s *session) slow() (all []*call) {
	for _, c := range s.Requests() {
		if !c.to.isOpen() {
			all = append(all, c)
		}
	}
	return all
}

func TestWhatASessionIsNotThereForIsBounded(t *testing.T) {
	push := New(nil, Options{}).newStream(0, nil)
	push.dropsNew = true
	frame := make([]byte, 100<<10)
	var refused int
	for range 100 {
		if push.put(frame) != nil {
			refused++
		}
	}
	p := push.take()
	if push.written(p); refused == 0 || p.overflowed || len(p.frames)+refused != 100 {
		t.Errorf("%d frames wait, %d were refused, slow: %v", len(p.frames), refused, p.overflowed)
	}
	if err := push.put(frame); err != nil {
		t.Errorf("the stream takes nothing any more: %v", err)
	}
}

func TestAnAnswerOfAnySizeMayWait(t *testing.T) {
	f := newFront(t, echoing(fakemcp.Legacy, map[string][]fakemcp.Step{
		"tools/call large": {fakemcp.Reply(`{"content":[],"x":"{{repeat 12000000 y}}"}`)},
	}), Options{})
	c := f.initialize("2025-11-25", "{}")
	if text := c.ask(request{body: legacyCall(`1`, "fs_large", "{}", "")}).text(); len(text) < 12_000_000 {
		t.Errorf("got %d bytes", len(text))
	}
}

func TestASilentCallIsKeptAlive(t *testing.T) {
	goOn := filepath.Join(t.TempDir(), "go on")
	answer := func() { _ = os.WriteFile(goOn, nil, 0o600) }
	defer time.AfterFunc(time.Minute, answer).Stop() // in vain
	f := newFront(t, echoing(fakemcp.Legacy, map[string][]fakemcp.Step{"tools/call slow": {fakemcp.AwaitFile(goOn), fakemcp.Answer()}}), Options{KeepAlive: 10 * time.Millisecond})
	c := f.initialize("2025-11-25", "{}")
	r := c.ask(request{body: legacyCall(`1`, "fs_slow", "{}", "")})
	if first, _ := r.events.ReadString('\n'); first != ": \n" {
		t.Errorf("first came %q", first)
	}
	answer()
	if got := r.event(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":1,"result":`) {
		t.Errorf("got %s", got)
	}
}

func TestTheAnswerToALongCallIsJSON(t *testing.T) {
	f := newFront(t, echoing(fakemcp.Legacy, map[string][]fakemcp.Step{"tools/call slow": {fakemcp.Wait(300 * time.Millisecond), fakemcp.Answer()}}), Options{})
	r := f.initialize("2025-11-25", "{}").ask(request{body: legacyCall(`1`, "fs_slow", "{}", "")})
	if r.ContentLength < 0 || r.Header.Get("Content-Type") != httpheader.JSON {
		t.Errorf("got %d bytes of %q", r.ContentLength, r.Header.Get("Content-Type"))
	}
}
