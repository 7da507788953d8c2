package streamhttp

import (
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"toolman/fixtures/process"
	"toolman/mcpwire/httpheader"
)

// problem is the message of an error answer.
func problem(t *testing.T, frame string) string {
	t.Helper()
	var m struct {
		Error struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal([]byte(frame), &m); err != nil || m.Error.Code != -32603 {
		t.Fatalf("got %s, want an internal error", frame)
	}
	return m.Error.Message
}

func TestWhatTheServerRefusesIsSaidInWords(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		header map[string]string
		body   string
		want   []string
	}{
		"no credentials":    {401, nil, "", []string{"requires credentials", "401 Unauthorized", "check the configured token"}},
		"wrong credentials": {403, map[string]string{"Content-Type": httpheader.JSON}, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"not \u202eyou"},"id":null}`, []string{"denies access", "the server says: not you"}},
		"too many requests": {429, map[string]string{"Retry-After": "120"}, "", []string{"too many requests", "retry after 2m0s"}},
		"wrong path":        {404, map[string]string{"Content-Type": "text/html"}, "<html>secret</html>", []string{"no MCP server at this URL", "/mcp"}},
		"out of order":      {500, map[string]string{"Content-Type": "text/plain"}, "it\nbroke", []string{"failed", "500", "it broke"}},
		"elsewhere":         {302, map[string]string{"Location": "https://other.example/x?y"}, "", []string{"another origin", "https://other.example/x,"}},
		"problem details":   {422, map[string]string{"Content-Type": "application/problem+json"}, `{"detail":"bad"}`, []string{"refuses the request (422", "bad"}},
		"a web page":        {200, map[string]string{"Content-Type": "text/html"}, "<html>", []string{"a web page", "URL of its MCP endpoint"}},
		"no answer":         {202, nil, "", []string{"sent no response"}},
		"no JSON":           {200, map[string]string{"Content-Type": httpheader.JSON}, "{", []string{"not valid JSON"}},
		"another answer":    {200, map[string]string{"Content-Type": httpheader.JSON}, `{"jsonrpc":"2.0","id":77,"result":{}}`, []string{"something other than the response"}},
		"a broken stream":   {200, map[string]string{"Content-Type": "text/event-stream"}, "data: {\n", []string{"closed the connection before its response was complete", "the server may have executed the request"}},
		"too large":         {200, map[string]string{"Content-Type": httpheader.JSON}, strings.Repeat(" ", 5000), []string{"longer than 4096 bytes", "max_message_bytes"}},
		"too large events":  {200, map[string]string{"Content-Type": "text/event-stream"}, "data: " + strings.Repeat(" ", 5000) + "\n\n", []string{"longer than 4096 bytes", "max_message_bytes"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
				for key, value := range c.header {
					w.Header().Set(key, value)
				}
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			})
			o := Options{URL: strings.Replace(f.URL, "http://", "http://user:password@", 1) + "/p?key=secret", Header: http.Header{"Authorization": {"Bearer secret"}}, FrameLimit: 4096}
			conn, h := dial(t, o)
			send(t, conn, modern("3", "tasks/get", `"taskId":"1"`))
			text := problem(t, h.next())
			for _, want := range append(c.want, f.URL+"/p: ") {
				if !strings.Contains(text, want) {
					t.Errorf("%q does not say %q", text, want)
				}
			}
			for _, secret := range []string{"secret", "password", "user", "\n", "\u202e"} {
				if strings.Contains(text, secret) {
					t.Errorf("%q says %q", text, secret)
				}
			}
		})
	}
}

func TestAFailedToolCallIsSomethingAModelCanRead(t *testing.T) {
	f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) { w.WriteHeader(500) })
	conn, h := dial(t, Options{URL: f.URL})
	send(t, conn, modern(`"a"`, "tools/call", `"name":"x"`))
	got := h.next()
	if !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":"a","result":{"resultType":"complete"`) || !strings.Contains(got, `"isError":true`) || !strings.Contains(got, "before it failed") {
		t.Errorf("got %s", got)
	}
}

func TestTheNetworkIsExplained(t *testing.T) {
	silent := serve(t, func(w http.ResponseWriter, r *http.Request, body string) { panic(http.ErrAbortHandler) })
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	secure.Config.ErrorLog = nil
	defer secure.Close()
	for name, c := range map[string]struct {
		url  string
		want string
	}{
		"nobody listens":          {"http://127.0.0.1:" + process.FreePort(t), "connection refused; start the server"},
		"no such host":            {"http://no-such-host.invalid/", "no-such-host.invalid"},
		"it hangs up":             {silent.URL, "closed the connection before its response"},
		"unknown authority":       {secure.URL, "is not trusted; put its certificate into a file and set ca_file"},
		"TLS where there is none": {strings.Replace(silent.URL, "http:", "https:", 1), "does not use TLS; write http://"},
	} {
		t.Run(name, func(t *testing.T) {
			conn, h := dial(t, Options{URL: c.url})
			send(t, conn, modern("3", "tools/list", ""))
			if text := problem(t, h.next()); !strings.Contains(text, c.want) {
				t.Errorf("%q does not say %q", text, c.want)
			}
		})
	}
}

func TestACertificateFileIsTrusted(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asJSON(w, 200, result(string(body), `{"proto":"`+r.Proto+`"}`))
	}))
	s.EnableHTTP2 = true
	s.TLS = &tls.Config{}
	s.StartTLS()
	defer s.Close()
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	conn, h := dial(t, Options{URL: s.URL, CAFile: path})
	send(t, conn, modern("3", "tools/list", ""))
	h.want(`{"jsonrpc":"2.0","id":3,"result":{"proto":"HTTP/2.0"}}`)
	if _, err := Dial(Options{URL: s.URL, CAFile: path + "x"}); err == nil || !strings.Contains(err.Error(), "ca_file") {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestOptionsThatCannotBeUsed(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"no URL":         {Options{URL: "%%secret"}, "not a valid URL"},
		"another scheme": {Options{URL: "ftp://h/"}, "http:// or https://"},
		"no host":        {Options{URL: "http:///x"}, "no host"},
		"a fragment":     {Options{URL: "http://h/#secret"}, "fragment"},
		"a line break":   {Options{URL: "http://h/", Header: http.Header{"X": {"secret\r\nY: 1"}}}, "the header X contains a line break"},
		"no header":      {Options{URL: "http://h/", Header: http.Header{"X Y": {"1"}}}, `"X Y" is not a valid header name`},
	} {
		_, err := Dial(c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOnlyWhatIsSafeIsSentAgain(t *testing.T) {
	for name, c := range map[string]struct {
		request string
		fail    func(w http.ResponseWriter)
		runs    int32
	}{
		"a list, broken off":         {modern("1", "tools/list", ""), func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, 2},
		"a list, busy":               {modern("1", "tools/list", ""), func(w http.ResponseWriter) { w.WriteHeader(503) }, 2},
		"a list, busy for long":      {modern("1", "tools/list", ""), func(w http.ResponseWriter) { w.Header().Set("Retry-After", "60"); w.WriteHeader(503) }, 1},
		"a list, refused":            {modern("1", "tools/list", ""), func(w http.ResponseWriter) { w.WriteHeader(403) }, 1},
		"a list, its stream broken":  {modern("1", "tools/list", ""), func(w http.ResponseWriter) { stream(w) }, 2},
		"a call, broken off":         {modern("1", "tools/call", `"name":"a"`), func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, 1},
		"a call, busy":               {modern("1", "tools/call", `"name":"a"`), func(w http.ResponseWriter) { w.WriteHeader(503) }, 1},
		"a call, its stream broken":  {modern("1", "tools/call", `"name":"a"`), func(w http.ResponseWriter) { stream(w) }, 1},
		"what nobody knows, no luck": {modern("1", "x/y", ``), func(w http.ResponseWriter) { w.WriteHeader(502) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var runs atomic.Int32
			f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
				if runs.Add(1) == 1 {
					c.fail(w)
					return
				}
				asJSON(w, 200, result(body, "{}"))
			})
			conn, h := dial(t, Options{URL: f.URL})
			send(t, conn, c.request)
			got := h.next()
			if n := runs.Load(); n != c.runs || (c.runs == 2) != (got == `{"jsonrpc":"2.0","id":1,"result":{}}`) {
				t.Errorf("sent %d times, want %d; the answer is %s", n, c.runs, got)
			}
		})
	}
}

func TestACallGoesToAServerThatIsAboutToStart(t *testing.T) {
	for range 20 {
		if startsAfterTheCall(t) {
			return
		}
	}
	t.Fatal("somebody else took the port each time, or the server started too late")
}

// startsAfterTheCall calls a server before it listens; false when somebody else has its port then,
// or the call may have failed before.
func startsAfterTheCall(t *testing.T) bool {
	t.Helper()
	address := "127.0.0.1:" + process.FreePort(t)
	conn, h := dial(t, Options{URL: "http://" + address})
	last := time.Now().Add(pause(0) + pause(1) + pause(2)) // before the last try
	send(t, conn, modern("1", "tools/call", `"name":"a"`))
	l, err := net.Listen("tcp", address)
	if err != nil {
		return false
	}
	if time.Now().After(last) {
		l.Close()
		return false
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asJSON(w, 200, result(string(body), "{}"))
	})}
	go s.Serve(l)
	defer s.Close()
	h.want(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	return true
}

func TestRedirectsWithinTheOriginAreFollowed(t *testing.T) {
	f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if r.URL.Path == "/mcp" {
			http.Redirect(w, r, "/mcp/", http.StatusTemporaryRedirect)
			return
		}
		asJSON(w, 200, result(body, `"`+r.Header.Get("Mcp-Method")+`"`))
	})
	conn, h := dial(t, Options{URL: f.URL + "/mcp"})
	send(t, conn, modern("1", "tools/list", ""))
	h.want(`{"jsonrpc":"2.0","id":1,"result":"tools/list"}`)
}

func TestAPermanentRedirectIsFollowedOnce(t *testing.T) {
	for status, want := range map[int]string{
		http.StatusPermanentRedirect: "/mcp?key=1 /mcp/?key=1 /mcp/?key=1 /mcp/?key=1",
		http.StatusTemporaryRedirect: "/mcp?key=1 /mcp/?key=1 /mcp?key=1 /mcp/?key=1 /mcp?key=1 /mcp/?key=1",
	} {
		f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
			if r.URL.Path == "/mcp" {
				http.Redirect(w, r, "/mcp/?key=1", status)
				return
			}
			asJSON(w, 200, result(body, "{}"))
		})
		conn, h := dial(t, Options{URL: f.URL + "/mcp?key=1"})
		for range 3 {
			send(t, conn, modern("1", "prompts/list", ""))
			h.want(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		}
		var got []string
		for len(f.requests) > 0 {
			got = append(got, f.heard(t).URL)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%d: the server got %q, want %s", status, got, want)
		}
	}
}

// Where a stream and the end of a session go to, too.
func TestASessionIsWhereTheServerHasMovedTo(t *testing.T) {
	s := newSessions()
	f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if r.URL.Path == "/mcp" {
			http.Redirect(w, r, "/mcp/", http.StatusPermanentRedirect)
			return
		}
		s.serve(w, r, body)
	})
	conn, h := dial(t, Options{URL: f.URL + "/mcp"})
	begin(t, conn, h)
	<-s.streams
	conn.CloseWrite()
	<-h.closed
	var got []string
	for range 5 {
		r := f.heard(t)
		got = append(got, r.method()+" "+r.URL)
	}
	f.silent(t)
	if want := "initialize /mcp, initialize /mcp/, notifications/initialized /mcp/, GET /mcp/, DELETE /mcp/"; strings.Join(got, ", ") != want {
		t.Errorf("the server got %q, want %s", got, want)
	}
}

func TestRedirectsElsewhereTakeNothingAlong(t *testing.T) {
	other := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {})
	for _, status := range []int{301, 302, 303, 307, 308} {
		f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
			http.Redirect(w, r, other.URL+"/x", status)
		})
		conn, h := dial(t, Options{URL: f.URL, Header: http.Header{"Authorization": {"Bearer x"}}})
		send(t, conn, modern("1", "prompts/list", ""))
		if text := problem(t, h.next()); !strings.Contains(text, "another origin") {
			t.Errorf("%d: %s", status, text)
		}
	}
	other.silent(t)
}
