//go:build linux || darwin

package page

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolman/cmd/internal/debugsock"
	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/jsonrpc/trace"
	"toolman/router/breakpoint"
)

// A far is a side, and the handler behind its Gate.
type far struct{ passed chan string }

func (f far) Place() breakpoint.Place {
	return breakpoint.Place{From: breakpoint.FromClient, Leg: trace.Client, Dir: trace.In, Peer: "client"}
}
func (f far) Asked([]byte) breakpoint.Request                 { return breakpoint.Request{} }
func (f far) Answer(*jsonrpc.Message, []byte, *peer.Outgoing) {}
func (f far) Drop(*jsonrpc.Message, *peer.Outgoing)           {}
func (f far) Disconnect(string)                               {}
func (f far) Message(m *jsonrpc.Message, _ *peer.Outgoing)    { f.passed <- string(m.Frame) }
func (f far) Bad(*jsonrpc.Message, error, *peer.Outgoing)     {}
func (f far) Closed(error)                                    {}

// A wire is the page's end of a stream of the debugger.
type wire struct {
	t    *testing.T
	body io.Closer
	in   *bufio.Scanner
}

// next returns the next event that has a text.
func (w *wire) next(text string) string {
	w.t.Helper()
	event := ""
	for w.in.Scan() {
		line := w.in.Text()
		switch {
		case line == "" && strings.Contains(event, text):
			return event
		case line == "":
			event = ""
		default:
			event += line + "\n"
		}
	}
	w.t.Fatalf("the stream has ended before %s: %v", text, w.in.Err())
	return ""
}

func (r *rig) post(path, body string) (int, string) {
	r.t.Helper()
	res, err := r.web.Post(r.url(path), "application/json", strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(text)
}

func TestThePageDebugsTheRunOfAFile(t *testing.T) {
	r := newRig(t)
	dir, err := os.MkdirTemp("", "tm")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("XDG_RUNTIME_DIR", dir)
	d := breakpoint.New(breakpoint.Options{})
	sock, err := debugsock.Listen("run2", dir, d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sock.Close)
	session := func(run, debug string) string {
		return fmt.Sprintf(`{"v":1,"seq":0,"t":"session","ts":"2026-01-01T00:00:00Z","us":0,"run":%q,"debug":%q}`+"\n", run, debug)
	}
	r.write(session("run0", "") + session("run1", filepath.Join(dir, "toolman", "debug-gone.sock")))
	wantRefusal := func(path string, status int, words string) {
		t.Helper()
		res := r.get(r.url(path))
		text, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != status || !strings.Contains(string(text), words) {
			t.Errorf("%s: %d %s, want %d %s", path, res.StatusCode, text, status, words)
		}
	}
	wantRefusal("/debug?file=f0&run=run0", http.StatusConflict, "without --debug")
	wantRefusal("/debug?file=f0", http.StatusConflict, "may have ended")
	wantRefusal("/debug?file=f9", http.StatusNotFound, "no file")
	// A trace cannot name any socket that it likes.
	r.write(session("evil", "/run/docker.sock"))
	wantRefusal("/debug?file=f0", http.StatusConflict, "not the path of a socket")
	r.write(strings.Repeat("x", 2<<20) + "\n" + session("run2", sock.Path))

	res := r.get(r.url("/debug?file=f0"))
	w := &wire{t: t, body: res.Body, in: bufio.NewScanner(res.Body)}
	id := strings.TrimSpace(strings.TrimPrefix(w.next("event: stream"), "event: stream\ndata: "))
	w.next(`"hello"`)
	if status, _ := r.post("/debug?stream=wrong", `{}`); status != http.StatusNotFound {
		t.Errorf("a wrong stream: %d", status)
	}
	if status, why := r.post("/debug?stream="+id, `{"do"`); status != http.StatusBadRequest {
		t.Errorf("no JSON: %d %s", status, why)
	}
	if status, why := r.post("/debug?stream="+id, "{\"seq\":1,\n\"do\":\"addRule\",\"rule\":{\"action\":\"hold\"}}"); status != http.StatusNoContent {
		t.Errorf("a rule: %d %s", status, why)
	}
	w.next(`"done","seq":1`)
	f := far{make(chan string, 10)}
	gate := d.Gate(f, f)
	for i := range 2 {
		frame := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"a":"<&>"}}`, i)
		var m jsonrpc.Message
		if err := jsonrpc.Scan([]byte(frame), &m); err != nil {
			t.Fatal(err)
		}
		gate.Message(&m, &peer.Outgoing{})
		if got := w.next(`"held"`); !strings.Contains(got, frame) {
			t.Errorf("got %s, want %s in it", got, frame)
		}
	}
	r.post("/debug?stream="+id, `{"do":"edit","n":1,"msg":{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"a":1.0}}}`)
	if got, want := <-f.passed, `{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"a":1.0}}`; got != want {
		t.Errorf("passed %s, want %s", got, want)
	}
	w.body.Close() // the page is closed
	if got := <-f.passed; !strings.Contains(got, `"id":1`) {
		t.Errorf("passed %s", got)
	}
}
