package ops

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// recorded serves requests by h and returns what is seen of each.
func recorded(t *testing.T, h http.HandlerFunc) (url string, seen <-chan *Request) {
	t.Helper()
	out := make(chan *Request, 16)
	return serveHandler(t, Record(h, func(r *Request) { out <- r })), out
}

func TestARequestIsRecordedWithItsOutcome(t *testing.T) {
	url, seen := recorded(t, func(w http.ResponseWriter, r *http.Request) {
		Identify(r.Context(), "reviewer")
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Mcp-Session-Id", "session-secret")
		w.WriteHeader(http.StatusAccepted)
		io.WriteString(w, "12345")
	})
	req, _ := http.NewRequest("POST", url+"/mcp?config=query-secret", strings.NewReader("1234567"))
	req.Header.Set("User-Agent", "client/1")
	req.Header.Set("Authorization", "Bearer token-secret")
	req.Header.Set("X-Request-Id", "from-proxy_1.2")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	r := <-seen
	got := fmt.Sprint(r.ID, " ", r.Method, " ", r.Path, " ", r.Status, " ", r.In, " ", r.Out, " ", r.UserAgent, " ", r.Principal)
	if want := "from-proxy_1.2 POST /mcp 202 7 5 client/1 reviewer"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if len(r.Session) != 12 || r.Took <= 0 || resp.Header.Get("X-Request-Id") != r.ID {
		t.Errorf("session %q, took %v, X-Request-Id %q", r.Session, r.Took, resp.Header.Get("X-Request-Id"))
	}
	if all := fmt.Sprintf("%+v", r); strings.Contains(all, "secret") {
		t.Errorf("a secret is in %s", all)
	}
}

func TestRequestsOfASessionAreRecognised(t *testing.T) {
	url, seen := recorded(t, func(http.ResponseWriter, *http.Request) {})
	var hashes []string
	for _, session := range []string{"one", "one", "two", ""} {
		req, _ := http.NewRequest("GET", url, nil)
		req.Header.Set("Mcp-Session-Id", session)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		hashes = append(hashes, (<-seen).Session)
	}
	if hashes[0] != hashes[1] || hashes[0] == hashes[2] || hashes[3] != "" {
		t.Errorf("got %q", hashes)
	}
}

func TestOnlyPlainRequestIDsAreTaken(t *testing.T) {
	url, seen := recorded(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, recordOf(r.Context()).ID) })
	ids := map[string]bool{}
	for _, given := range []string{"", "a b", "a\"b", strings.Repeat("a", 65), "ä"} {
		req, _ := http.NewRequest("GET", url, nil)
		req.Header.Set("X-Request-Id", given)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		r := <-seen
		if len(r.ID) != 16 || ids[r.ID] || string(body) != r.ID || resp.Header.Get("X-Request-Id") != r.ID {
			t.Errorf("%q: got %q, in the context %q", given, r.ID, body)
		}
		ids[r.ID] = true
	}
}

// A stream has to reach its client event by event, and its time is that of the whole.
func TestStreamsPassTheRecorder(t *testing.T) {
	more := make(chan struct{})
	url, seen := recorded(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "data: 1\n\n")
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		<-more
		io.WriteString(w, "data: 2\n\n")
		w.(http.Flusher).Flush()
		if err := http.NewResponseController(w).SetWriteDeadline(time.Time{}); err != nil {
			t.Error(err)
		}
	})
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	in := bufio.NewReader(resp.Body)
	if line, err := in.ReadString('\n'); err != nil || line != "data: 1\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	select {
	case <-seen:
		t.Error("seen before the stream has ended")
	default:
	}
	close(more)
	io.Copy(io.Discard, in)
	if r := <-seen; r.Status != 200 || r.Out != 18 {
		t.Errorf("got %d, %d bytes", r.Status, r.Out)
	}
}

func TestAHandlerThatPanicsIsRecorded(t *testing.T) {
	out := make(chan *Request, 1)
	srv := httptest.NewUnstartedServer(Record(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }),
		func(r *Request) { out <- r }))
	srv.Start()
	defer srv.Close()
	if resp, err := http.Get(srv.URL); err == nil {
		resp.Body.Close()
		t.Error("answered")
	}
	if r := <-out; r.Status != 500 {
		t.Errorf("got %d", r.Status)
	}
}

func TestIdentifyOutsideOfARecordingDoesNothing(t *testing.T) {
	Identify(t.Context(), "nobody")
}

// The log is read by people on terminals and by programs line by line: what a client
// sends must not look like a line of its own.
func TestTheAccessLogIsOneCleanLineARequest(t *testing.T) {
	core, lines := observer.New(zap.InfoLevel)
	logged := make(chan struct{}, 1)
	url := serveHandler(t, Record(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Identify(r.Context(), "agent\x1b[31m")
		w.WriteHeader(http.StatusNotFound)
	}), AccessLog(zap.New(core)), func(*Request) { logged <- struct{}{} }))
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /a%%0ab%%1b[0m%%ff?token=query-secret HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer header-secret\r\nUser-Agent: %s\tx\r\nMcp-Session-Id: session-secret\r\n\r\n",
		strings.Repeat("u", 300))
	<-logged
	if lines.Len() != 1 {
		t.Fatalf("%d lines", lines.Len())
	}
	line := lines.All()[0]
	f := line.ContextMap()
	if line.Message != "request" || f["method"] != "GET" || f["status"] != int64(404) || f["agent"] != "agent [31m" || f["path"] != "/a b [0m?" {
		t.Errorf("got %q %+v", line.Message, f)
	}
	if agent := f["user_agent"].(string); len(agent) > longest+len("…") || !strings.HasPrefix(agent, "uuu") {
		t.Errorf("user agent %q", agent)
	}
	if all := fmt.Sprint(f); strings.Contains(all, "secret") || strings.ContainsAny(all, "\x1b\n\t") {
		t.Errorf("got %q", all)
	}
	for _, field := range []string{"bytes", "dur", "session", "id"} {
		if f[field] == nil {
			t.Errorf("no %s in %v", field, f)
		}
	}
}

func TestAnAnswerThatOutlivesItsHandlerIsRecordedAtItsEnd(t *testing.T) {
	taken := make(chan func(), 1)
	url, seen := recorded(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "12345")
		c := http.NewResponseController(w)
		if err := c.Flush(); err != nil {
			t.Error(err)
		}
		conn, _, err := c.Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		ended := Outlive(r.Context())
		taken <- func() { conn.Close(); ended(7) }
	})
	resp, err := http.Get(url + "/mcp")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	end := <-taken
	select {
	case r := <-seen:
		t.Fatalf("it is recorded before its end: %+v", r)
	case <-time.After(10 * time.Millisecond):
	}
	end()
	if r := <-seen; r.Status != 200 || r.Out != 12 || r.Took < 10*time.Millisecond {
		t.Errorf("got %d, %d bytes, %v", r.Status, r.Out, r.Took)
	}
	Outlive(t.Context())(1) // without a recording nothing happens
}
