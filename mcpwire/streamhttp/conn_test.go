package streamhttp

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire/httpheader"
)

func TestAnAnswerComesAsTheServerWroteIt(t *testing.T) {
	const odd = `{ "x": 1.50, "é": "<\u00e9>" }`
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter, body string)
		want   []string
	}{
		"as JSON": {func(w http.ResponseWriter, body string) { asJSON(w, 200, result(body, odd)) },
			[]string{`{"jsonrpc":"2.0","id":7,"result":` + odd + `}`}},
		"as JSON over several lines": {func(w http.ResponseWriter, body string) {
			asJSON(w, 200, "{\n  \"jsonrpc\": \"2.0\",\r\n  \"id\": 7,\n  \"result\": {}\n}\n")
		}, []string{`{   "jsonrpc": "2.0",    "id": 7,   "result": {} } `}},
		"as a stream, behind what belongs to it": {func(w http.ResponseWriter, body string) {
			write := stream(w)
			write(": a comment\n\nid: 1\ndata:\n\n")
			write(data(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}}`))
			write("event: other\ndata: nothing\n\n")
			write(data(result(body, odd)))
		}, []string{`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}}`, `{"jsonrpc":"2.0","id":7,"result":` + odd + `}`}},
		"as a stream of several data lines": {func(w http.ResponseWriter, body string) {
			stream(w)("data: {\"jsonrpc\":\"2.0\",\rdata: \"id\":7,\r\ndata:\"result\":{}}\n\n")
		}, []string{`{"jsonrpc":"2.0", "id":7, "result":{}}`}},
		"as an error with the status that the revision wants": {func(w http.ResponseWriter, body string) {
			asJSON(w, 404, `{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no"}}`)
		}, []string{`{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no"}}`}},
		"as an error without an id": {func(w http.ResponseWriter, body string) {
			asJSON(w, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"no","data":{"supported":["2025-11-25"]}}}`)
		}, []string{`{"jsonrpc":"2.0","id":7,"error":{"code":-32022,"message":"no","data":{"supported":["2025-11-25"]}}}`}},
	} {
		t.Run(name, func(t *testing.T) {
			f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) { c.answer(w, body) })
			conn, h := dial(t, Options{URL: f.URL})
			send(t, conn, modern("7", "resources/list", ""))
			for _, want := range c.want {
				h.want(want)
			}
			h.none()
		})
	}
}

func TestAModernRequestIsMirroredInItsHeaders(t *testing.T) {
	f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) { asJSON(w, 200, result(body, "{}")) })
	conn, h := dial(t, Options{URL: f.URL + "/mcp?key=1", Header: http.Header{"X-Key": {"k"}, "Mcp-Method": {"mine"}, "Mcp-Session-Id": {"mine"}}})
	for _, c := range []struct{ method, members, name string }{
		{"tools/list", "", ""},
		{"tools/call", `"name":"a b"`, "a b"},
		{"tools/call", `"name":"\u00e9"`, "=?base64?w6k=?="},
		{"prompts/get", `"name":" a"`, "=?base64?IGE=?="},
		{"resources/read", `"uri":"x://y","name":"z"`, "x://y"},
		{"resources/read", `"uri":"=?base64?YQ==?="`, "=?base64?PT9iYXNlNjQ/WVE9PT89?="},
		{"completion/complete", `"name":"a"`, ""},
	} {
		sent := modern("1", c.method, c.members)
		send(t, conn, sent)
		r := f.heard(t)
		h.next()
		if r.Body != sent || r.URL != "/mcp?key=1" {
			t.Errorf("the server got %s %s", r.URL, r.Body)
		}
		for header, want := range map[string]string{
			"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": c.method, "Mcp-Name": c.name, "Mcp-Session-Id": "", "X-Key": "k",
			"Accept": "application/json, text/event-stream", "Content-Type": httpheader.JSON,
		} {
			if got := r.Header.Get(header); got != want || len(r.Header.Values(header)) > 1 {
				t.Errorf("%s %s: %s is %q, want %q", c.method, c.members, header, got, want)
			}
		}
	}
}

func TestACallCancelledInTheModernEraEndsItsPost(t *testing.T) {
	gone := make(chan struct{})
	f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		stream(w)
		<-r.Context().Done()
		close(gone)
	})
	conn, h := dial(t, Options{URL: f.URL})
	send(t, conn, modern("5", "tools/call", `"name":"a"`))
	f.heard(t)
	send(t, conn, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`)
	select {
	case <-gone:
	case <-time.After(patient):
		t.Fatal("the POST goes on")
	}
	f.silent(t)
	h.none()
	pending := func() int {
		conn.mu.Lock()
		defer conn.mu.Unlock()
		return conn.out.pending
	}
	for pending() != 0 {
		time.Sleep(time.Millisecond)
	}
}

func TestWhatCannotBeSentIsRefused(t *testing.T) {
	block := make(chan struct{})
	f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) { <-block })
	defer close(block)
	conn, _ := dial(t, Options{URL: f.URL})
	conn.out.limit = 1000
	if err := conn.Queue([]byte(`{"id":1}`), nil); err == nil {
		t.Error("no message was taken")
	}
	frame := []byte(modern("1", "tools/list", `"cursor":"`+strings.Repeat("x", 900)+`"`))
	if err := conn.Queue(frame, nil); err != nil {
		t.Error(err)
	}
	if err := conn.Queue(frame, nil); !errors.Is(err, jsonrpc.ErrQueueFull) {
		t.Errorf("a full queue: %v", err)
	}
	conn.Close()
	if err := conn.Queue(frame, nil); !errors.Is(err, jsonrpc.ErrClosed) {
		t.Errorf("a closed connection: %v", err)
	}
}

func TestTooManyAtOnceAreRefused(t *testing.T) {
	conn, _ := dial(t, Options{URL: "http://127.0.0.1:1"})
	for range maxPending {
		if err := conn.Queue([]byte(initialized), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Queue([]byte(initialized), nil); !errors.Is(err, jsonrpc.ErrQueueFull) {
		t.Errorf("one too many: %v", err)
	}
}

func TestAnEditedCopyIsSent(t *testing.T) {
	f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) { asJSON(w, 200, result(body, "{}")) })
	conn, h := dial(t, Options{URL: f.URL})
	frame := []byte(modern("1", "tools/list", ""))
	at := strings.Index(string(frame), `"id":`) + 5
	if err := conn.Queue(frame, []jsonrpc.Edit{{Span: jsonrpc.Span{Lo: at, Hi: at + 1}, New: []byte("99")}}); err != nil {
		t.Fatal(err)
	}
	clear(frame)
	conn.Flush()
	if r := f.heard(t); r.Body != modern("99", "tools/list", "") {
		t.Errorf("the server got %s", r.Body)
	}
	h.want(`{"jsonrpc":"2.0","id":99,"result":{}}`)
}

func TestMessagesComeOneAtATime(t *testing.T) {
	f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) { asJSON(w, 200, result(body, "{}")) })
	conn, h := dial(t, Options{URL: f.URL})
	const n = 100
	for i := range n {
		send(t, conn, modern(`"`+string(rune('a'+i%26))+strings.Repeat("x", i)+`"`, "tools/list", ""))
	}
	for range n {
		h.next() // which checks it
	}
}

func TestTheEndIsToldOnce(t *testing.T) {
	f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) { stream(w); <-r.Context().Done() })
	conn, h := dial(t, Options{URL: f.URL})
	send(t, conn, modern("1", "tools/list", ""))
	f.heard(t)
	conn.CloseWrite()
	if err := <-h.closed; !errors.Is(err, io.EOF) {
		t.Errorf("closed with %v", err)
	}
	conn.Close()
	conn.Close()
	time.Sleep(10 * time.Millisecond)
	if len(h.closed) > 0 || len(h.frames) > 0 {
		t.Error("something came behind the end")
	}
}

// toolman ends a connection when Answering is 0, and must not lose a response by that.
func TestAResponseIsOpenUntilTheHandlerHasIt(t *testing.T) {
	f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) { asJSON(w, 200, result(body, "{}")) })
	conn, h := dial(t, Options{URL: f.URL})
	h.during = func() {
		if n := conn.Answering(); n != 1 {
			t.Errorf("while the response comes, %d requests are open", n)
		}
	}
	send(t, conn, modern("1", "tools/call", `"name":"a"`))
	h.next()
	for conn.Answering() != 0 {
		time.Sleep(time.Millisecond)
	}
}

// A cancelled request has no response that anybody waits for.
func TestACancelledRequestIsNotOpen(t *testing.T) {
	f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if methodIs(body, "tools/call") {
			<-r.Context().Done()
		}
	})
	for _, request := range []string{modern("1", "tools/call", `"name":"a"`), legacy("1", "tools/call", `{"name":"a"}`)} {
		conn, _ := dial(t, Options{URL: f.URL})
		send(t, conn, request)
		f.heard(t)
		send(t, conn, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		if n := conn.Answering(); n != 0 {
			t.Errorf("after the cancellation of %s, %d requests are open", request, n)
		}
	}
}

// A passer passes what comes on to a peer.
type passer struct {
	to *peer.Peer
}

func (p passer) Message(m *jsonrpc.Message, out *peer.Outgoing) { out.Send(p.to, m.Frame) }
func (p passer) Bad(*jsonrpc.Message, error, *peer.Outgoing)    {}
func (p passer) Closed(error)                                   {}

// What comes faster than its receiver reads waits at the server, not in our memory.
func TestAReceiverThatDoesNotReadHoldsUpItsStream(t *testing.T) {
	const size, count = 64 << 10, 1000
	event := data(`{"jsonrpc":"2.0","method":"x","params":{"p":"` + strings.Repeat("x", size) + `"}}`)
	f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		write := stream(w)
		for range count {
			write(event)
		}
		write(data(result(body, "{}")))
	})
	theirs, ours := io.Pipe()
	in, _ := io.Pipe()
	peer := peer.NewStream(in, ours, peer.Options{QueueLimit: 4 * size, Pressure: true})
	defer peer.Close()
	peer.Start(passer{})
	conn, err := Dial(Options{URL: f.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.Start(passer{peer})
	send(t, conn, modern("1", "tools/call", `"name":"a"`))
	for peer.Waiting() <= 4*size {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(50 * time.Millisecond)
	if n := peer.Waiting(); n > 7*size {
		t.Errorf("%d bytes wait for a receiver that does not read", n)
	}
	lines := bufio.NewScanner(theirs)
	lines.Buffer(nil, 2*size)
	for range count + 1 {
		if !lines.Scan() {
			t.Fatal(lines.Err())
		}
	}
	if lines.Text() != `{"jsonrpc":"2.0","id":1,"result":{}}` {
		t.Errorf("the last line is %.100s", lines.Text())
	}
}

func TestUserAndPasswordOfTheURLAreSentWhereNothingElseSaysWhoItIs(t *testing.T) {
	for _, c := range []struct {
		header http.Header
		want   string
	}{
		{nil, "Basic dXNlcjpwYXNzOndvcmQ="},
		{http.Header{"Authorization": {"Bearer token"}}, "Bearer token"},
	} {
		f := serve(t, func(w http.ResponseWriter, _ *http.Request, _ string) { w.WriteHeader(http.StatusAccepted) })
		conn, _ := dial(t, Options{URL: strings.Replace(f.URL, "http://", "http://user:pass%3Aword@", 1), Header: c.header})
		send(t, conn, initialized)
		if got := f.heard(t).Header.Get("Authorization"); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
