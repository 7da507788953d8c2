package hop

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
)

func TestForward(t *testing.T) {
	keys := identity(t, 1)
	for _, size := range []int{0, 2, 1 << 10, maxAtOnce, maxAtOnce + 1, wholeBody, wholeBody + 1, 3 << 20} {
		want := strings.Repeat("x", size)
		o := own(t, keys, func(w http.ResponseWriter, r *http.Request, h Head) {
			body, _ := io.ReadAll(r.Body)
			if r.Method != http.MethodPost || r.URL.String() != "/mcp/a%2Fb?config=c&d=%20" || r.Host != "public.example" || !reflect.DeepEqual(h.Principal, principalOf(t)) {
				t.Errorf("got %s %s for %s of %+v", r.Method, r.URL, r.Host, h)
			}
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
			w.WriteHeader(http.StatusAccepted)
			w.Write(body)
		})
		c := newClient(t, keys)
		for range 3 {
			w := httptest.NewRecorder()
			r := httptest.NewRequest(http.MethodPost, "http://public.example/mcp/a%2Fb?config=c&d=%20", nil)
			h := head()
			h.Principal = principalOf(t)
			got := c.Forward(t.Context(), w, r, []byte(want), o.address, h)
			if got != (Result{Sent: true, Began: true}) || w.Code != http.StatusAccepted || w.Body.String() != want {
				t.Fatalf("%d bytes: %+v, status %d, %d bytes", size, got, w.Code, w.Body.Len())
			}
		}
		if n := o.conns.Load(); n != 1 && size <= maxAtOnce {
			t.Errorf("%d bytes: %d connections for three requests", size, n)
		}
	}
}

func TestOtherMethods(t *testing.T) {
	keys := identity(t, 1)
	o := own(t, keys, func(w http.ResponseWriter, r *http.Request, _ Head) {
		w.Header().Set("X-Length", fmt.Sprint(r.ContentLength))
		w.Header().Set("Content-Length", "5")
		if r.Method == http.MethodDelete {
			w.Header().Del("Content-Length")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		io.WriteString(w, "hello")
	})
	c := newClient(t, keys)
	for method, want := range map[string]string{"GET": "200 0 5 hello", "HEAD": "200 0 5 ", "DELETE": "204 0  ", "POST": "200 0 5 hello"} {
		w := httptest.NewRecorder()
		got := c.Forward(t.Context(), w, httptest.NewRequest(method, "/mcp", nil), nil, o.address, head())
		text := fmt.Sprint(w.Code, " ", w.Header().Get("X-Length"), " ", w.Header().Get("Content-Length"), " ", w.Body)
		if got.Err != nil || text != want {
			t.Errorf("%s: got %q, %+v; want %q", method, text, got, want)
		}
	}
	if n := o.conns.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

func TestHeadersThatPass(t *testing.T) {
	keys := identity(t, 1)
	seen := make(chan http.Header, 1)
	o := own(t, keys, func(w http.ResponseWriter, r *http.Request, _ Head) {
		seen <- r.Header
		h := w.Header()
		h["X-Kept"] = []string{"1", "2"}
		h.Set("X-Request-Id", "owner")
		h.Set("Mcp-Session-Id", "s")
		h.Set("X-Toolman-Owner", "secret")
		h.Set("Keep-Alive", "timeout=5")
		h.Set("Connection", "X-Named")
		h.Set("X-Named", "dropped")
		w.WriteHeader(http.StatusEarlyHints)
		io.WriteString(w, "{}")
	})
	e := forwarding(t, newClient(t, keys), o.address)
	r, _ := http.NewRequest(http.MethodPost, e.url+"/mcp", strings.NewReader("{}"))
	r.Header = http.Header{
		"Accept": {"application/json", "text/event-stream"}, "Mcp-Session-Id": {"s"}, "User-Agent": {"u"}, "Accept-Encoding": {"identity"},
		"Authorization": {"Bearer t"}, "Cookie": {"a=b"}, "Idempotency-Key": {"k"}, "X-Idempotency-Key": {"k"}, "X-Toolman-Hop": {"forged"},
		"X-Toolman-Other": {"forged"}, "X-Request-Id": {"client"}, "Te": {"trailers"}, "Proxy-Authorization": {"p"}, "Connection": {"x-mine, Close-Not"}, "X-Mine": {"m"},
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	got := get(t, seen)
	want := http.Header{"Accept": {"application/json", "text/event-stream"}, "Mcp-Session-Id": {"s"}, "User-Agent": {"u"}, "Accept-Encoding": {"identity"}, "Content-Length": {"2"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the owner got %v", got)
	}
	resp.Header.Del("Date")
	want = http.Header{"X-Kept": {"1", "2"}, "X-Request-Id": {"edge"}, "Mcp-Session-Id": {"s"}, "Content-Type": {"text/plain; charset=utf-8"}, "Content-Length": {"2"}}
	if !reflect.DeepEqual(resp.Header, want) {
		t.Errorf("the client got %v", resp.Header)
	}
}

func TestRequestIDOfTheHead(t *testing.T) {
	keys := identity(t, 1)
	seen := make(chan string, 1)
	o := own(t, keys, func(_ http.ResponseWriter, r *http.Request, h Head) {
		seen <- r.Header.Get("X-Request-Id") + " " + h.RequestID
	})
	h := head()
	h.RequestID = "id-1"
	newClient(t, keys).Forward(t.Context(), httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil), nil, o.address, h)
	if got := get(t, seen); got != "id-1 id-1" {
		t.Errorf("got %q", got)
	}
}

func TestLineBreaksAreNotSent(t *testing.T) {
	for name, change := range map[string]func(*http.Request){
		"value":  func(r *http.Request) { r.Header["X"] = []string{"a\r\nX-Toolman-Hop: b"} },
		"name":   func(r *http.Request) { r.Header["X: y\r\nZ"] = []string{"a"} },
		"host":   func(r *http.Request) { r.Host = "a\r\nX: b" },
		"method": func(r *http.Request) { r.Method = "GET /x HTTP/1.1\r\n" },
		"query":  func(r *http.Request) { r.URL.RawQuery = "a HTTP/1.1\r\nX: b" },
	} {
		r := httptest.NewRequest("GET", "/", nil)
		change(r)
		got := newClient(t, identity(t, 1)).Forward(t.Context(), httptest.NewRecorder(), r, nil, "127.0.0.1:1", head())
		if got.Err == nil || got.Sent || got.Refused {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestEventsAreFlushed(t *testing.T) {
	keys := identity(t, 1)
	step := make(chan string)
	o := own(t, keys, func(w http.ResponseWriter, r *http.Request, _ Head) {
		w.Header().Set("Content-Type", "text/event-stream")
		rc := http.NewResponseController(w)
		rc.Flush()
		for event := range step {
			io.WriteString(w, event)
			rc.Flush()
		}
	})
	e := forwarding(t, newClient(t, keys), o.address)
	resp, err := http.Get(e.url) // returns before the first event
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	in := bufio.NewReader(resp.Body)
	for n := range 3 {
		want := fmt.Sprintf("data: %s\n\n", strings.Repeat("x", n*100_000))
		step <- want
		got := make([]byte, len(want))
		if _, err := io.ReadFull(in, got); err != nil || string(got) != want {
			t.Fatalf("event %d: got %d bytes, %v", n, len(got), err)
		}
	}
	close(step)
	if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
		t.Errorf("after the events: %q, %v", rest, err)
	}
	if got := e.result(t); got != (Result{Sent: true, Began: true, Events: true}) {
		t.Errorf("got %+v", got)
	}
}

func TestClientThatDisconnectsCancels(t *testing.T) {
	keys := identity(t, 1)
	for name, begin := range map[string]func(http.ResponseWriter){
		"before the response": func(http.ResponseWriter) {},
		"in a stream": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			http.NewResponseController(w).Flush()
		},
	} {
		t.Run(name, func(t *testing.T) {
			arrived, cancelled := make(chan bool, 1), make(chan bool, 1)
			o := own(t, keys, func(w http.ResponseWriter, r *http.Request, _ Head) {
				io.Copy(io.Discard, r.Body) // net/http sees the end of a connection only then
				begin(w)
				arrived <- true
				<-r.Context().Done()
				cancelled <- true
			})
			e := forwarding(t, newClient(t, keys), o.address)
			ctx, cancel := context.WithCancel(t.Context())
			r, _ := http.NewRequestWithContext(ctx, http.MethodPost, e.url, strings.NewReader("{}"))
			go func() {
				if resp, err := http.DefaultTransport.RoundTrip(r); err == nil {
					io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
			}()
			get(t, arrived)
			cancel()
			get(t, cancelled)
			if got := e.result(t); !errors.Is(got.Err, context.Canceled) || !got.Sent {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestContextEndsTheForward(t *testing.T) {
	keys := identity(t, 1)
	dead := errors.New("the replica's lease has run out")
	o := own(t, keys, func(w http.ResponseWriter, r *http.Request, _ Head) { <-r.Context().Done() })
	paused := listen(t) // the system accepts; nobody reads
	for name, c := range map[string]struct {
		address string
		sent    bool
	}{"no response": {o.address, true}, "paused before the handshake": {paused.Addr().String(), false}} {
		ctx, cancel := context.WithCancelCause(t.Context())
		client := newClient(t, keys)
		done := make(chan Result, 1)
		go func() {
			_, got := post(ctx, client, c.address, "{}")
			done <- got
		}()
		if c.sent {
			waitFor(t, func() bool { return o.conns.Load() == 1 })
		}
		cancel(dead)
		if got := get(t, done); got.Err != dead || got.Refused || got.Began || got.Sent && !c.sent {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestPausedReplicaDoesNotKeepALongBody(t *testing.T) {
	keys := identity(t, 1)
	c := newClient(t, keys)
	arrived := make(chan bool, 1)
	l := listen(t)
	go func() { // makes the handshake, and never reads again
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		tls.Server(conn, keys.Server()).Handshake()
		arrived <- true
		<-t.Context().Done()
	}()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan Result, 1)
	go func() {
		_, got := post(ctx, c, l.Addr().String(), strings.Repeat("x", 16<<20))
		done <- got
	}()
	get(t, arrived)
	cancel()
	if got := get(t, done); !errors.Is(got.Err, context.Canceled) || got.Refused {
		t.Errorf("got %+v", got)
	}
}

func TestAnswerBeforeALongBodyIsRead(t *testing.T) {
	keys := identity(t, 1)
	o := own(t, keys, func(w http.ResponseWriter, r *http.Request, _ Head) {
		http.Error(w, "too long", http.StatusRequestEntityTooLarge)
	})
	w, got := post(t.Context(), newClient(t, keys), o.address, strings.Repeat("x", 16<<20))
	if w.Code != http.StatusRequestEntityTooLarge && (got.Err == nil || !got.Sent) {
		t.Errorf("status %d, %+v", w.Code, got)
	}
}

func TestMisdirected(t *testing.T) {
	keys := identity(t, 1)
	var who atomic.Value
	who.Store("")
	o := own(t, keys, func(w http.ResponseWriter, r *http.Request, _ Head) { Misdirect(w, who.Load().(string)) })
	c := newClient(t, keys)
	for _, name := range []string{"", "cccccccc"} {
		who.Store(name)
		w, got := post(t.Context(), c, o.address, "{}")
		if got != (Result{Sent: true, Misdirected: true, Owner: name}) || w.Flushed || w.Body.Len() > 0 || len(w.Header()) > 0 {
			t.Errorf("got %+v, %v", got, w)
		}
	}
	if n := o.conns.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

func TestAnotherReplicaAtTheAddress(t *testing.T) {
	keys := identity(t, 1)
	o := own(t, keys, func(http.ResponseWriter, *http.Request, Head) { t.Error("it serves the request of another") })
	c := newClient(t, keys)
	h := head()
	h.To = "cccccccc"
	w := httptest.NewRecorder()
	got := c.Forward(t.Context(), w, httptest.NewRequest("POST", "/mcp", nil), nil, o.address, h)
	if !errors.Is(got.Err, ErrRefused) || !got.Refused || got.Sent || got.Began || got.Misdirected || len(w.Header()) > 0 {
		t.Errorf("got %+v", got)
	}
	if _, _, err := c.Get(t.Context(), o.address, "/x", h); !errors.Is(err, ErrRefused) {
		t.Errorf("Get: %v", err)
	}
}

func TestGet(t *testing.T) {
	keys := identity(t, 1)
	o := own(t, keys, func(w http.ResponseWriter, r *http.Request, h Head) {
		if r.URL.Path == "/long" {
			w.Write(make([]byte, maxGet+1))
			return
		}
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprint(w, r.Method, r.URL, h.Local)
	})
	c := newClient(t, keys)
	h := head()
	h.Local = true
	status, body, err := c.Get(t.Context(), o.address, "/logs?a=b", h)
	if status != http.StatusTeapot || string(body) != "GET/logs?a=b true" || err != nil {
		t.Errorf("got %d %s %v", status, body, err)
	}
	if _, _, err := c.Get(t.Context(), o.address, "/long", h); err == nil {
		t.Error("a response of any length is read")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := c.Get(ctx, o.address, "/", h); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
