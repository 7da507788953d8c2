package h1

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A wired is a server that writes responses byte for byte.
type wired struct {
	url   string
	conns atomic.Int32  // that it was asked for
	ended chan struct{} // gets one for each connection that the client has closed
}

// wire starts a server. answer writes the response to a request, and reports whether it reads
// another one there; n counts connections.
func wire(t *testing.T, answer func(n int, c net.Conn, body string) bool) *wired {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s := &wired{url: "http://" + l.Addr().String() + "/mcp", ended: make(chan struct{}, 100)}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n := int(s.conns.Add(1))
			go s.serve(c, func(body string) bool { return answer(n, c, body) })
		}
	}()
	return s
}

func (s *wired) serve(c net.Conn, answer func(body string) bool) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			s.ended <- struct{}{}
			return
		}
		body, _ := io.ReadAll(r.Body)
		if !answer(string(body)) {
			return
		}
	}
}

// over waits until the client has closed a connection.
func (s *wired) over(t *testing.T) {
	t.Helper()
	select {
	case <-s.ended:
	case <-time.After(patient):
		t.Fatal("the connection stays open")
	}
}

func sized(body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

func chunked(body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body)
}

// patient is how long a test waits.
const patient = time.Minute

// dial returns a Transport for a server.
func dial(t *testing.T, to string) *Transport {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	d := New(&http.Transport{DialContext: new(net.Dialer).DialContext, MaxIdleConnsPerHost: 10, IdleConnTimeout: time.Minute,
		MaxResponseHeaderBytes: 64 << 10, ReadBufferSize: 4 << 10, WriteBufferSize: 4 << 10}, u)
	t.Cleanup(d.CloseIdleConnections)
	return d
}

// post sends a request.
func post(ctx context.Context, d *Transport, to, body string, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, header)
	return d.RoundTrip(req)
}

// call sends a request, and reads the response to its end.
func call(t *testing.T, d *Transport, to string) string {
	t.Helper()
	text, err := tryCall(t, d, to)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func tryCall(t *testing.T, d *Transport, to string) (string, error) {
	t.Helper()
	resp, err := post(t.Context(), d, to, "{}", nil)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

func TestConnectionIsReused(t *testing.T) {
	for name, response := range map[string]string{
		"length":      sized("{}"),
		"chunks":      chunked("{}"),
		"early hints": "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + sized("{}"),
		"no body":     "HTTP/1.1 204 No Content\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := wire(t, func(_ int, c net.Conn, body string) bool {
				io.WriteString(c, response)
				return true
			})
			d := dial(t, s.url)
			for range 3 {
				call(t, d, s.url)
			}
			if n := s.conns.Load(); n != 1 {
				t.Errorf("%d connections for three calls", n)
			}
		})
	}
}

func TestUselessConnectionIsNotReused(t *testing.T) {
	forged := sized(`forged`)
	for name, first := range map[string]func(c net.Conn, response string) bool{
		"closed": func(c net.Conn, response string) bool {
			io.WriteString(c, response)
			return false
		},
		"about to be closed": func(c net.Conn, response string) bool {
			io.WriteString(c, strings.Replace(response, "\r\n", "\r\nConnection: close\r\n", 1))
			return true
		},
		"two responses": func(c net.Conn, response string) bool {
			io.WriteString(c, response+forged)
			return true
		},
		"a response that was not asked for": func(c net.Conn, response string) bool {
			io.WriteString(c, response)
			time.Sleep(10 * time.Millisecond)
			io.WriteString(c, forged)
			return true
		},
		"another protocol": func(c net.Conn, response string) bool {
			io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n")
			c.(*net.TCPConn).CloseWrite()
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := wire(t, func(n int, c net.Conn, body string) bool {
				if n == 1 {
					return first(c, sized("{}"))
				}
				io.WriteString(c, sized("{}"))
				return true
			})
			d := dial(t, s.url)
			call(t, d, s.url)
			for _, c := range d.idle {
				for c.alive() { // what the server does after its response is on the way
					time.Sleep(time.Millisecond)
				}
			}
			if text := call(t, d, s.url); text != "{}" || s.conns.Load() != 2 {
				t.Errorf("got %s on %d connections, want another one for the second call", text, s.conns.Load())
			}
		})
	}
}

func TestBrokenResponse(t *testing.T) {
	for name, c := range map[string]struct{ response, want string }{
		"header":      {"HTTP/1.1 200 OK\r\nX: y\r\n", "unexpected EOF"},
		"body":        {"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{", "unexpected EOF"},
		"long header": {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 128<<10) + "\r\n\r\n", "the header of the server's response is too long"},
		"not HTTP":    {"SSH-2.0-OpenSSH\r\n\r\n", "malformed HTTP response"},
	} {
		t.Run(name, func(t *testing.T) {
			s := wire(t, func(_ int, conn net.Conn, _ string) bool {
				io.WriteString(conn, c.response)
				return false
			})
			if _, err := tryCall(t, dial(t, s.url), s.url); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if n := s.conns.Load(); n != 1 {
				t.Errorf("the call was made on %d connections, want one", n)
			}
		})
	}
}

func TestIdleConnectionsAreClosed(t *testing.T) {
	s := wire(t, func(_ int, c net.Conn, body string) bool {
		io.WriteString(c, sized("{}"))
		return true
	})
	d := dial(t, s.url)

	call(t, d, s.url)
	d.sweep()
	call(t, d, s.url)
	if n := s.conns.Load(); n != 1 {
		t.Fatalf("%d connections, want the one that was used just now", n)
	}
	d.idle[0].idleSince = time.Now().Add(-2 * d.IdleConnTimeout)
	d.sweep()
	s.over(t)

	call(t, d, s.url)
	d.CloseIdleConnections()
	s.over(t)
	call(t, d, s.url)
	s.over(t)
}

func TestCancelledRequestClosesItsConnection(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := wire(t, func(_ int, c net.Conn, body string) bool {
		cancel()
		return true
	})
	if _, err := post(ctx, dial(t, s.url), s.url, "{}", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	s.over(t)
}

func TestLargeRequestIsRefusedBeforeItIsRead(t *testing.T) {
	f := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusRequestEntityTooLarge) }))
	defer f.Close()
	for _, size := range []int{maxBody / 2, 2 * maxBody} {
		resp, err := post(t.Context(), dial(t, f.URL), f.URL, strings.Repeat("x", size), nil)
		if err != nil || resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

func TestHeaders(t *testing.T) {
	got := make(chan http.Header, 1)
	f := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r.Header }))
	defer f.Close()
	d := dial(t, f.URL)
	for name, c := range map[string]struct{ header, want http.Header }{
		"none": {nil, http.Header{"User-Agent": {"Go-http-client/1.1"}, "Content-Length": {"2"}}},
		"own":  {http.Header{"User-Agent": {"mine"}, "X": {"a", "b"}}, http.Header{"User-Agent": {"mine"}, "X": {"a", "b"}, "Content-Length": {"2"}}},
	} {
		if _, err := post(t.Context(), d, f.URL, "{}", c.header); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if h := <-got; !reflect.DeepEqual(h, c.want) {
			t.Errorf("%s: the server got %v", name, h)
		}
	}
}

func TestHeaderWithLineBreakIsNotSent(t *testing.T) {
	s := wire(t, func(_ int, c net.Conn, body string) bool {
		t.Error("the server got a request")
		return false
	})
	if _, err := post(t.Context(), dial(t, s.url), s.url, "{}", http.Header{"Authorization": {"a\r\nX-Admin: yes"}}); err == nil {
		t.Error("it was sent")
	}
}

func TestProxyIsUsed(t *testing.T) {
	asked := make(chan string, 1)
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.RequestURI }))
	defer proxy.Close()
	through, _ := url.Parse(proxy.URL)
	to, _ := url.Parse("http://server.invalid/mcp")
	d := New(&http.Transport{Proxy: http.ProxyURL(through)}, to)
	defer d.CloseIdleConnections()
	resp, err := post(t.Context(), d, to.String(), "{}", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got := <-asked; got != to.String() {
		t.Errorf("the proxy was asked for %s", got)
	}
}
