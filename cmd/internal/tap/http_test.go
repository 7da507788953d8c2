package tap

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"toolman/cmd/internal/tap/record"
	"toolman/fixtures/mcptest"
	"toolman/jsonrpc/trace"
)

// A tapped server is a server over HTTP, with a tap before it.
type tappedServer struct {
	direct, tap string // URLs
	out         bytes.Buffer
	rec         *record.Recorder
	close       func()
}

func tapServer(t *testing.T, h http.HandlerFunc) *tappedServer {
	t.Helper()
	s := &tappedServer{}
	server := httptest.NewServer(h)
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	s.rec = record.New(trace.NewWriter(&s.out, trace.Options{}), "srv")
	handler, err := newProxy(target, true, s.rec.HTTP())
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(handler)
	s.direct, s.tap = server.URL, front.URL
	s.close = sync.OnceFunc(func() {
		front.Close()
		server.Close()
		s.rec.Close(time.Minute)
	})
	t.Cleanup(s.close)
	return s
}

// traced returns the lines of the trace in short.
func (s *tappedServer) traced(t *testing.T) (all []string) {
	t.Helper()
	s.close()
	for _, secret := range []string{"the-session", "the-credential"} {
		if strings.Contains(s.out.String(), secret) {
			t.Errorf("%s is in the trace:\n%s", secret, s.out.String())
		}
	}
	for r, err := range trace.Read(&s.out) {
		if err != nil {
			t.Fatal(err)
		}
		switch r.Type {
		case trace.TypeFrame:
			all = append(all, strings.TrimSpace(fmt.Sprint(r.Peer, " ", r.Dir, " ", r.Kind, " ", r.Method, " ", r.Call, " ", r.Status)))
		case trace.TypeEvent:
			all = append(all, r.Event+" "+r.Peer+" "+r.Text)
		}
	}
	return all
}

// exchange is what a client or a server sees of the other.
func sees(header http.Header, rest ...any) string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if name != "Date" {
			lines = append(lines, fmt.Sprintf("%s: %q", name, header[name]))
		}
	}
	return fmt.Sprint(rest...) + "\n" + strings.Join(lines, "\n")
}

func TestOverHTTPAllIsPassedOnAsItIs(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	io.WriteString(z, `{"jsonrpc":"2.0","id":3,"result":{}}`)
	z.Close()
	var got string
	s := tapServer(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		got = sees(r.Header, r.Method, " ", r.RequestURI, " ", r.ContentLength, r.TransferEncoding, string(body), err, r.Trailer)
		h := w.Header()
		h["Content-Type"], h["Date"] = nil, nil
		switch r.URL.Path {
		case "/none":
			w.WriteHeader(http.StatusAccepted)
		case "/zip":
			h.Set("Content-Type", "application/json")
			h.Set("Content-Encoding", "gzip")
			w.Write(zipped.Bytes())
		case "/moved":
			h.Set("Location", "https://elsewhere.example/mcp")
			w.WriteHeader(http.StatusTemporaryRedirect)
		case "/binary":
			h.Add("X-Many", "a")
			h.Add("X-Many", "b")
			h.Set("Www-Authenticate", `Bearer realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			w.Write([]byte("\x00\xff\r\n"))
		case "/chunks":
			h.Set("Trailer", "X-After")
			io.WriteString(w, "<html>")
			w.(http.Flusher).Flush()
			io.WriteString(w, "</html>")
			h.Set("X-After", "yes")
		default:
			h.Set("Content-Type", "application/json; charset=utf-8")
			h.Set("Mcp-Session-Id", "the-session")
			io.WriteString(w, "{\"jsonrpc\":\"2.0\",\r\n \"id\":1,\"result\":{}}\n")
		}
	})
	for _, tt := range []struct {
		method, path, body string
		chunked            bool
		header             http.Header
	}{
		{"POST", "/mcp", "{\"jsonrpc\":\"2.0\",\n\"id\":1,\"method\":\"ping\"}\r\n", false, http.Header{"Mcp-Session-Id": {"the-session"}, "Authorization": {"Bearer the-credential"}, "Mcp-Protocol-Version": {"2025-11-25"}}},
		{"POST", "/mcp?a=%20;b&&x=1", "[]", true, http.Header{"X-Forwarded-For": {"10.0.0.1"}, "Forwarded": {"for=x"}}},
		{"POST", "/none", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, false, nil},
		{"POST", "/zip", `{"jsonrpc":"2.0","id":3,"method":"ping"}`, false, http.Header{"Accept-Encoding": {"gzip, br"}}},
		{"GET", "/a%2Fb//c/../d", "", false, http.Header{"User-Agent": {""}, "Accept": {"text/event-stream"}, "Last-Event-Id": {"7"}}},
		{"DELETE", "/mcp", "", false, http.Header{"Mcp-Session-Id": {"the-session"}, "Cookie": {"a=b; c=d"}}},
		{"OPTIONS", "/mcp", "", false, http.Header{"Origin": {"http://localhost:6274"}, "Access-Control-Request-Method": {"POST"}}},
		{"GET", "/moved", "", false, nil},
		{"PUT", "/binary", "\x00\xff", false, nil},
		{"GET", "/chunks", "", false, nil},
	} {
		var saw [2][2]string
		for i, base := range []string{s.direct, s.tap} {
			var body io.Reader = strings.NewReader(tt.body)
			if tt.chunked {
				body = io.NopCloser(body)
			}
			req, err := http.NewRequestWithContext(t.Context(), tt.method, base+tt.path, body)
			if err != nil {
				t.Fatal(err)
			}
			maps.Copy(req.Header, tt.header)
			transport := &http.Transport{DisableCompression: true}
			resp, err := transport.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(resp.Body)
			saw[i] = [2]string{got, sees(resp.Header, resp.Status, " ", resp.ContentLength, resp.TransferEncoding, string(text), err, resp.Trailer)}
			resp.Body.Close()
			transport.CloseIdleConnections()
		}
		if saw[0] != saw[1] {
			t.Errorf("%s %s\ndirect: %s\ntap:    %s", tt.method, tt.path, saw[0], saw[1])
		}
	}
	want := []string{"client in request ping c1", "client out response ping c1 ok", "client out response   orphan", "client in notification notifications/initialized",
		"client in request ping c2", "client out response ping c2 ok", "http srv GET /a%2Fb//c/../d 200 OK application/json", "client out response   orphan",
		"http srv DELETE /mcp 200 OK application/json", "client out response   orphan", "http srv OPTIONS /mcp 200 OK application/json", "client out response   orphan",
		"http srv GET /moved 307 Temporary Redirect", "client in invalid", "http srv PUT /binary 401 Unauthorized", "http srv GET /chunks 200 OK"}
	all := s.traced(t)
	for i, line := range all {
		if i < len(all)-1 && strings.HasPrefix(line, "http srv POST /mcp 200") {
			all = slices.Delete(all, i, i+1) // of the empty batch
			break
		}
	}
	if strings.Join(all, "\n") != strings.Join(want, "\n") {
		t.Errorf("the trace has\n%s\nwant\n%s", strings.Join(all, "\n"), strings.Join(want, "\n"))
	}
}

// request sends a request through the tap and returns the response.
func (s *tappedServer) request(ctx context.Context, t *testing.T, method, path, body string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, s.tap+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Mcp-Session-Id", "the-session")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func TestOverHTTPEventsArePassedOnAtOnce(t *testing.T) {
	next, gone := make(chan string), make(chan bool)
	s := tapServer(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if r.Method == "POST" && r.ContentLength > 0 && r.URL.Path == "/mcp" {
			w.Header().Set("Content-Type", "text/event-stream")
			for {
				select {
				case text := <-next:
					io.WriteString(w, text)
					w.(http.Flusher).Flush()
				case <-r.Context().Done():
					close(gone)
					return
				}
			}
		}
		w.WriteHeader(http.StatusAccepted)
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { next <- ": comment\r\n" }()
	resp := s.request(ctx, t, "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":9}}}`)
	in := bufio.NewReader(resp.Body)
	for _, line := range []string{": comment\r\n", "event: message\r\n", "data: {\"jsonrpc\":\"2.0\",\r\n", "data: \"method\":\"notifications/progress\",\"params\":{\"progressToken\":9,\"progress\":1}}\r\n", "\r\n", "data: {\"half"} {
		if line != ": comment\r\n" {
			next <- line
		}
		got := make([]byte, len(line))
		if _, err := io.ReadFull(in, got); err != nil || string(got) != line {
			t.Fatalf("%q, %v; want %q", got, err, line)
		}
	}
	s.request(t.Context(), t, "POST", "/other", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	cancel(errors.New("enough"))
	<-gone
	want := []string{"client in request tools/call c1", "client out notification notifications/progress c1", "client in notification notifications/cancelled c1",
		"http srv POST /mcp 200 OK, ended early: "}
	got := s.traced(t)
	if len(got) > 0 && strings.HasPrefix(got[len(got)-1], want[3]) {
		got[len(got)-1] = want[3]
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the trace has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTheTransportOf2024IsTapped(t *testing.T) {
	answers := make(chan string)
	s := tapServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" {
			io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusAccepted)
			io.WriteString(w, "Accepted")
			answers <- `{"jsonrpc":"2.0","id":1,"result":{}}`
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "event: endpoint\ndata: /message?sessionId=the-session\n\n")
		w.(http.Flusher).Flush()
		fmt.Fprintf(w, "event: message\ndata: %s\n\n", <-answers)
	})
	stream := s.request(t.Context(), t, "GET", "/sse", "")
	in := bufio.NewReader(stream.Body)
	in.ReadString('\n')
	if line, err := in.ReadString('\n'); line != "data: /message?sessionId=the-session\n" {
		t.Fatal(line, err)
	}
	s.request(t.Context(), t, "POST", "/message?sessionId=the-session", `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if rest, err := io.ReadAll(in); err != nil || !strings.HasSuffix(string(rest), "{}}\n\n") {
		t.Errorf("%q %v", rest, err)
	}
	want := []string{"http srv GET /sse 200 OK text/event-stream", "client in request ping c1", "client out response ping c1 ok"}
	if got := s.traced(t); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the trace has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestATapOfALocalServerRefusesPages(t *testing.T) {
	s := tapServer(t, func(http.ResponseWriter, *http.Request) {})
	for _, tt := range []struct {
		host, origin string
		code         int
	}{
		{"", "", 200}, {"localhost:1", "", 200}, {"[::1]", "", 200}, {"192.168.0.7:80", "", 200},
		{"evil.example", "", 403}, {"localhost.evil.example:80", "", 403}, {"", "http://evil.example", 403}, {"", "null", 403},
		{"", "http://localhost:6274", 200}, {"", "http://127.0.0.1", 200}, {"192.168.0.7:80", "http://192.168.0.7:80", 200},
	} {
		req, err := http.NewRequestWithContext(t.Context(), "POST", s.tap, nil)
		if err != nil {
			t.Fatal(err)
		}
		if req.Host = tt.host; tt.origin != "" {
			req.Header.Set("Origin", tt.origin)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != tt.code {
			t.Errorf("host %q, origin %q: %s", tt.host, tt.origin, resp.Status)
		}
	}
}

// A server elsewhere may have pages as clients. But a name that leads to a tap on loopback is that
// of a page that wants to reach what only this machine does.
func TestATapOfAnotherServerRefusesForeignNames(t *testing.T) {
	target, err := url.Parse("http://intranet.invalid")
	if err != nil {
		t.Fatal(err)
	}
	rec := record.New(trace.NewWriter(io.Discard, trace.Options{}), "srv")
	defer rec.Close(time.Minute)
	for _, tt := range []struct {
		host    string
		private bool
		code    int
	}{
		{"127.0.0.1:8931", true, 502}, {"localhost:8931", true, 502}, {"evil.example:8931", true, 403}, {"tap.example:8931", false, 502},
	} {
		handler, err := newProxy(target, tt.private, rec.HTTP())
		if err != nil {
			t.Fatal(err)
		}
		req := httptest.NewRequestWithContext(t.Context(), "POST", "/mcp", nil)
		req.Host = tt.host
		req.Header.Set("Origin", "https://app.example")
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // nothing is looked up
		resp := httptest.NewRecorder()
		handler.ServeHTTP(resp, req.WithContext(ctx))
		if resp.Code != tt.code {
			t.Errorf("host %s, private %t: %d", tt.host, tt.private, resp.Code)
		}
	}
}

func TestNoResponseIsABadGateway(t *testing.T) {
	s := tapServer(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	resp := s.request(t.Context(), t, "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	text, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusBadGateway || !strings.Contains(string(text), "no response from http://127.0.0.1") {
		t.Errorf("%s %s", resp.Status, text)
	}
	got := s.traced(t)
	if len(got) != 2 || got[0] != "client in request ping c1" || !strings.HasPrefix(got[1], "http srv POST /mcp: ") {
		t.Errorf("%q", got)
	}
}

// The start of a response passes while the request is still being passed on, and ends neither.
func TestAResponseMayBeginBeforeItsRequestHasEnded(t *testing.T) {
	s := tapServer(t, func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).EnableFullDuplex()
		io.CopyN(io.Discard, r.Body, 5)
		io.WriteString(w, "begun ")
		w.(http.Flusher).Flush()
		rest, err := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%q %v", rest, err)
	})
	body, more := io.Pipe()
	ctx, cancel := context.WithTimeout(t.Context(), mcptest.Patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", s.tap+"/mcp", body)
	if err != nil {
		t.Fatal(err)
	}
	req.ContentLength = 10
	go io.WriteString(more, "first")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	begun := make([]byte, 6)
	if _, err := io.ReadFull(resp.Body, begun); err != nil || string(begun) != "begun " {
		t.Fatal(string(begun), err)
	}
	go func() {
		io.WriteString(more, "later")
		more.Close()
	}()
	if rest, err := io.ReadAll(resp.Body); string(rest) != `"later" <nil>` || err != nil {
		t.Errorf("%s, %v", rest, err)
	}
}
