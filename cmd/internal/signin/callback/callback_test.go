package callback

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/fixtures/process"
)

const issuer = "https://as.example"

var expected = Expected{State: "the-state", Issuer: issuer}

// serve returns a server that waits at this URI.
func serve(t *testing.T, uri string, e Expected) (*Server, <-chan Answer) {
	t.Helper()
	s, err := Listen(uri)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(false) })
	return s, s.Serve(e)
}

// send sends a request as it is, to the port of a server.
func send(t *testing.T, s *Server, method, target, host string) *http.Response {
	t.Helper()
	conn, err := net.Dial("tcp", s.listeners[0].Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute)) // a page that waits for the end of the login
	io.WriteString(conn, method+" "+target+" HTTP/1.1\r\nHost: "+host+"\r\nConnection: close\r\n\r\n")
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	resp := &http.Response{Header: http.Header{}}
	head, body, _ := strings.Cut(string(answer), "\r\n\r\n")
	for i, line := range strings.Split(head, "\r\n") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			resp.Header.Add(name, value)
		} else if i == 0 {
			resp.Status = line
		}
	}
	resp.Body = io.NopCloser(strings.NewReader(body))
	return resp
}

func TestOnlyARedirectOfThisLoginEndsTheWait(t *testing.T) {
	s, answers := serve(t, DefaultURI, expected)
	u, err := url.Parse(s.URI())
	if err != nil || u.Hostname() != "127.0.0.1" || u.Port() == "" || u.Path != "/callback" {
		t.Fatalf("the URI is %s, %v", s.URI(), err)
	}
	for _, r := range []struct{ method, target, host string }{
		{"GET", "/", u.Host},
		{"GET", "/favicon.ico", u.Host},
		{"GET", "/callback", u.Host},
		{"GET", "/callback?code=c", u.Host},
		{"GET", "/callback?code=c&state=", u.Host},
		{"GET", "/callback?code=c&state=the-stat", u.Host},
		{"GET", "/callback?code=c&state=the-stat%00", u.Host},
		{"GET", "/callback?code=c&state=THE-STATE", u.Host},
		{"GET", "/callback?code=c&state=the-state&state=the-state", u.Host},
		{"GET", "/callback?error=access_denied&state=other", u.Host},
		{"GET", "/callback?error=access_denied&iss=" + issuer, u.Host},
		{"GET", "/callback?code=c&state=the-state&%zz", u.Host},
		{"GET", "/callback/?code=c&state=the-state", u.Host},
		{"GET", "/callback/x?code=c&state=the-state", u.Host},
		{"GET", "//callback?code=c&state=the-state", u.Host},
		{"GET", "/%63allback?code=c&state=the-state", u.Host},
		{"GET", "/Callback?code=c&state=the-state", u.Host},
		{"HEAD", "/callback?code=c&state=the-state", u.Host},
		{"POST", "/callback?code=c&state=the-state", u.Host},
		{"OPTIONS", "/callback?code=c&state=the-state", u.Host},
		{"GET", "/callback?code=c&state=the-state", "evil.test"},
		{"GET", "/callback?code=c&state=the-state", "evil.test:" + u.Port()},
		{"GET", "/callback?code=c&state=the-state", "localhost:" + u.Port()},
		{"GET", "/callback?code=c&state=the-state", "127.0.0.1"},
	} {
		resp := send(t, s, r.method, r.target, r.host)
		if !strings.Contains(resp.Status, " 404 ") {
			t.Errorf("%v: %s", r, resp.Status)
		}
		select {
		case a := <-answers:
			t.Fatalf("%v ended the wait: %+v", r, a)
		default:
		}
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		if a := <-answers; a.Err != nil || a.Code != "c d" {
			t.Errorf("got %+v", a)
		}
		twice := send(t, s, "GET", "/callback?code=other&state=the-state", u.Host)
		if !strings.Contains(twice.Status, " 404 ") {
			t.Errorf("the second answer: %s", twice.Status)
		}
		s.Close(true)
	}()
	resp := send(t, s, "GET", "/callback?code=c%20d&state=the-state&iss="+issuer, u.Host)
	<-closed
	if !strings.Contains(resp.Status, " 200 ") {
		t.Errorf("got %s", resp.Status)
	}
	select {
	case a := <-answers:
		t.Errorf("a second answer: %+v", a)
	default:
	}
}

func TestThePageIsStaticAndSaysHowTheLoginWent(t *testing.T) {
	for _, ok := range []bool{true, false} {
		s, answers := serve(t, DefaultURI, expected)
		go func() {
			<-answers
			s.Close(ok)
		}()
		host := strings.TrimSuffix(strings.TrimPrefix(s.URI(), "http://"), "/callback")
		resp := send(t, s, "GET", "/callback?code=<b>secret</b>&state=the-state&x=<script>", host)
		body, _ := io.ReadAll(resp.Body)
		if strings.Contains(resp.Status, "200") != ok || strings.Contains(string(body), "logged in") != ok {
			t.Errorf("%v: %s\n%s", ok, resp.Status, body)
		}
		if strings.Contains(string(body), "secret") || strings.Contains(string(body), "script") {
			t.Errorf("the page repeats what was sent: %s", body)
		}
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
			"Content-Type":            "text/html; charset=utf-8",
			"X-Content-Type-Options":  "nosniff",
			"Referrer-Policy":         "no-referrer",
			"Cache-Control":           "no-store",
		} {
			if got := resp.Header.Get(name); got != want {
				t.Errorf("%s: %q", name, got)
			}
		}
	}
}

func TestIssIsCheckedBeforeAnythingElseCounts(t *testing.T) {
	for _, test := range []struct {
		query string
		sends bool
		code  string
		fails string
	}{
		{"code=c", false, "c", ""},
		{"code=c&iss=https://as.example", false, "c", ""},
		{"code=c&iss=https://as.example", true, "c", ""},
		{"code=c", true, "", "does not say that it is from"},
		{"error=access_denied&error_description=EVIL", true, "", "does not say that it is from"},
		{"code=c&iss=https://as.example/", false, "", "its iss is another one"},
		{"code=c&iss=https://AS.example", false, "", "its iss is another one"},
		{"code=c&iss=https://as.example:443", true, "", "its iss is another one"},
		{"code=c&iss=", false, "", "its iss is another one"},
		{"code=c&iss=https://as.example&iss=https://as.example", true, "", "its iss is another one"},
		{"error=EVIL&error_description=EVIL&error_uri=EVIL&iss=https://EVIL.test", false, "", "its iss is another one"},
		{"error=access_denied&error_description=You%20said%20no%1b[31m%0a", false, "", "refuses the login: access_denied: You said no"},
		{"error=access_denied&code=c", false, "", "access_denied"},
		{"error=%1b[2J&error_description=" + strings.Repeat("long", 200), false, "", "longlong…"},
		{"", false, "", "has no code"},
		{"code=", false, "", "has no code"},
		{"code=a&code=b", false, "", "has no code"},
	} {
		e := Expected{State: "s", Issuer: issuer, SendsIssuer: test.sends}
		query, err := url.ParseQuery(test.query + "&state=s")
		if err != nil {
			t.Fatal(err)
		}
		a, ok := e.answer(query)
		if !ok {
			t.Errorf("%s: not taken as the answer", test.query)
			continue
		}
		if (a.Err == nil) != (test.fails == "") || a.Code != test.code {
			t.Errorf("%s: %+v", test.query, a)
		}
		if a.Err != nil {
			text := a.Err.Error()
			if !strings.Contains(text, test.fails) || strings.Contains(text, "EVIL") || strings.ContainsAny(text, "\x1b\n") || cli.Hint(a.Err) == "" || len(text) > 600 {
				t.Errorf("%s: %q", test.query, text)
			}
		}
	}
	if _, ok := (&Expected{}).answer(url.Values{"state": {""}, "code": {"c"}}); ok {
		t.Error("no state is taken for the state")
	}
}

func TestOnlyLoopbackIsListenedAt(t *testing.T) {
	for _, bad := range []string{"http://0.0.0.0/callback", "http://192.168.1.2:80/callback", "http://example.com/callback", "https://127.0.0.1/callback", "http://user@127.0.0.1/callback",
		"http://127.0.0.1/callback?x=1", "http://127.0.0.1/callback#x", "callback", "", "http://[::]/callback", "http://localhost.evil.test/callback"} {
		if s, err := Listen(bad); err == nil || cli.Hint(err) == "" {
			t.Errorf("%s: %v, %v", bad, s, err)
			s.Close(false)
		}
	}
	for uri, addrs := range map[string]int{"http://127.0.0.1/callback": 1, "http://localhost/x": 1, "http://localhost": 1} {
		s, err := Listen(uri)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(uri, "localhost") && hasIPv6() {
			addrs = 2
		}
		if len(s.listeners) != addrs {
			t.Errorf("%s: %d listeners", uri, len(s.listeners))
		}
		for _, l := range s.listeners {
			if !l.Addr().(*net.TCPAddr).IP.IsLoopback() {
				t.Errorf("%s: listens at %s", uri, l.Addr())
			}
		}
		again, err := Listen(s.URI())
		if err == nil {
			again.Close(false)
			t.Errorf("%s is listened at twice", s.URI())
		} else if !strings.Contains(err.Error(), s.URI()) {
			t.Errorf("got %v", err)
		}
		s.Close(false)
		u, _ := url.Parse(uri)
		u.Host += ":" + process.FreePort(t) // not one that the system gives to others in between
		for range 2 {
			if s, err = Listen(u.String()); err != nil || s.URI() != u.String() {
				t.Fatalf("the port is not free, or not free again: %v", err)
			}
			s.Close(false)
		}
	}
}

func TestAURIWithoutAPathIsAskedForAsSlash(t *testing.T) {
	s, answers := serve(t, "http://localhost", expected)
	if strings.Count(s.URI(), "/") != 2 {
		t.Errorf("the URI is %s, not as it was registered", s.URI())
	}
	go func() {
		resp, err := http.Get(s.URI() + "?code=c&state=the-state")
		if err == nil {
			resp.Body.Close()
		}
	}()
	if a := <-answers; a.Code != "c" {
		t.Errorf("got %+v", a)
	}
}

// closing closes a server after a login that went well. The channel is closed when that is done.
func closing(s *Server) <-chan struct{} {
	closed := make(chan struct{})
	go func() {
		s.Close(true)
		close(closed)
	}()
	return closed
}

func TestCloseDoesNotWaitForABrowserThatIsGone(t *testing.T) {
	s, answers := serve(t, DefaultURI, expected)
	conn, err := net.Dial("tcp", s.listeners[0].Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(conn, "GET /callback?code=c&state=the-state HTTP/1.1\r\nHost: "+s.host+"\r\n\r\n")
	<-answers
	conn.Close()
	closed := closing(s)
	select {
	case <-closed:
	case <-time.After(time.Minute):
		t.Error("it waits")
	}
}

// delayed is a ResponseWriter on a machine that is busy.
type delayed struct {
	http.ResponseWriter
	until chan struct{}
}

func (w delayed) Write(p []byte) (int, error) {
	<-w.until
	return w.ResponseWriter.Write(p)
}

func TestCloseWaitsForThePage(t *testing.T) {
	s, answers := serve(t, DefaultURI, expected)
	w, until := httptest.NewRecorder(), make(chan struct{})
	go s.web.Handler.ServeHTTP(delayed{w, until}, httptest.NewRequest("GET", s.URI()+"?code=c&state=the-state", nil))
	<-answers
	closed := closing(s)
	select {
	case <-closed:
		t.Error("it does not wait")
	case <-time.After(50 * time.Millisecond):
	}
	close(until)
	<-closed
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "logged in") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

func TestAPastedURLIsCheckedLikeARedirect(t *testing.T) {
	const uri = "http://127.0.0.1:4321/callback"
	for _, test := range []struct {
		text, code, fails string
	}{
		{uri + "?code=c&state=the-state", "c", ""},
		{"  \"" + uri + "?code=c&state=the-state&iss=https://as.example\"\r\n", "c", ""},
		{"", "", "it starts with " + uri},
		{"c", "", "it starts with " + uri},
		{"?code=c&state=the-state", "", "it starts with"},
		{"http://127.0.0.1:4322/callback?code=c&state=the-state", "", "it starts with"},
		{"https://127.0.0.1:4321/callback?code=c&state=the-state", "", "it starts with"},
		{"http://evil.test/callback?code=c&state=the-state", "", "it starts with"},
		{"http://127.0.0.1:4321/callback/x?code=c&state=the-state", "", "it starts with"},
		{uri + "?code=c&state=other", "", "another login"},
		{uri + "?code=c", "", "another login"},
		{uri + "?code=c&state=the-state&%zz", "", "another login"},
		{uri + "?code=c&state=the-state&x=" + strings.Repeat("x", maxPasted), "", "it starts with"},
	} {
		a, err := expected.Pasted(test.text, uri)
		if (err == nil) != (test.fails == "") || a.Code != test.code {
			t.Errorf("%.80q: %+v, %v", test.text, a, err)
		} else if err != nil && !strings.Contains(err.Error(), test.fails) {
			t.Errorf("%.80q: %v", test.text, err)
		}
	}
	a, err := expected.Pasted(uri+"?code=c&state=the-state&iss=https://evil.test", uri)
	if err != nil || a.Err == nil || a.Code != "" {
		t.Errorf("another iss: %+v, %v", a, err)
	}
}
