package streamhttp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
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

// wire starts a server. answer writes the response to a request, and reports whether it reads another
// one there; n counts connections.
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

// call makes a call, which is never repeated, and waits for its answer.
func call(t *testing.T, c *Conn, h *catcher, id string) {
	t.Helper()
	send(t, c, modern(id, "tools/call", `"name":"a"`))
	h.want(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
}

// waitIdle waits until a connection of c is there for another request, and returns it.
func waitIdle(t *testing.T, c *Conn) *directConn {
	t.Helper()
	d := c.client.Transport.(*direct)
	for end := time.Now().Add(patient); time.Now().Before(end); time.Sleep(time.Millisecond) {
		d.mu.Lock()
		idle := d.idle
		d.mu.Unlock()
		if len(idle) > 0 {
			return idle[0]
		}
	}
	t.Fatal("no connection is kept")
	return nil
}

func TestRequestsFollowOneAnotherOnAConnection(t *testing.T) {
	for name, response := range map[string]func(body string) string{
		"whose responses have a length":          sized,
		"whose responses come in chunks":         chunked,
		"whose responses are announced by hints": func(body string) string { return "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + sized(body) },
	} {
		t.Run(name, func(t *testing.T) {
			s := wire(t, func(_ int, c net.Conn, body string) bool {
				io.WriteString(c, response(result(body, "{}")))
				return true
			})
			conn, h := dial(t, Options{URL: s.url})
			for id := range 3 {
				call(t, conn, h, fmt.Sprint(id))
				waitIdle(t, conn)
			}
			if n := s.conns.Load(); n != 1 {
				t.Errorf("%d connections for three calls one after another", n)
			}
		})
	}
}

func TestAConnectionThatIsOfNoUseAnyMoreIsNotUsed(t *testing.T) {
	forged := sized(`{"jsonrpc":"2.0","id":2,"result":{"forged":true}}`)
	for name, first := range map[string]func(c net.Conn, response string) bool{
		"the server has closed it": func(c net.Conn, response string) bool {
			io.WriteString(c, response)
			return false
		},
		"the server is about to close it": func(c net.Conn, response string) bool {
			io.WriteString(c, strings.Replace(response, "\r\n", "\r\nConnection: close\r\n", 1))
			return true
		},
		"there is another response behind the one that was asked for": func(c net.Conn, response string) bool {
			io.WriteString(c, response+forged)
			return true
		},
		"a response has come that nobody has asked for": func(c net.Conn, response string) bool {
			io.WriteString(c, response)
			time.Sleep(10 * time.Millisecond)
			io.WriteString(c, forged)
			return true
		},
		"the server now speaks something else": func(c net.Conn, response string) bool {
			io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n")
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := wire(t, func(n int, c net.Conn, body string) bool {
				response := sized(result(body, "{}"))
				if n == 1 {
					return first(c, response)
				}
				io.WriteString(c, response)
				return true
			})
			conn, h := dial(t, Options{URL: s.url})
			send(t, conn, modern("1", "tools/call", `"name":"a"`))
			h.next()
			d := conn.client.Transport.(*direct)
			d.mu.Lock()
			for _, c := range d.idle {
				for c.silent() { // what the server does after its response is on the way
					time.Sleep(time.Millisecond)
				}
			}
			d.mu.Unlock()
			call(t, conn, h, "2")
			if n := s.conns.Load(); n != 2 {
				t.Errorf("%d connections, want another one for the second call", n)
			}
		})
	}
}

func TestAResponseThatBreaksOffOrHasNoEndIsAFailure(t *testing.T) {
	for name, c := range map[string]struct{ response, want string }{
		"in its header": {"HTTP/1.1 200 OK\r\nX: y\r\n", "the server closed the connection before it had answered"},
		"in its body":   {"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{", "the server closed the connection before it had answered"},
		"with a header that goes on and on": {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 2*maxHeader) + "\r\n\r\n",
			"the header of the server's response is too long"},
		"with what is not HTTP": {"SSH-2.0-OpenSSH\r\n\r\n", "malformed HTTP response"},
	} {
		t.Run(name, func(t *testing.T) {
			s := wire(t, func(_ int, conn net.Conn, _ string) bool {
				io.WriteString(conn, c.response)
				return false
			})
			conn, h := dial(t, Options{URL: s.url})
			send(t, conn, modern("1", "tools/call", `"name":"a"`))
			if text := h.next(); !strings.Contains(text, c.want) {
				t.Errorf("%s does not say %q", text, c.want)
			}
			if n := s.conns.Load(); n != 1 {
				t.Errorf("the call was made on %d connections, want one", n)
			}
		})
	}
}

func TestConnectionsThatNobodyUsesAreClosed(t *testing.T) {
	s := wire(t, func(_ int, c net.Conn, body string) bool {
		io.WriteString(c, sized(result(body, "{}")))
		return true
	})
	conn, h := dial(t, Options{URL: s.url})
	d := conn.client.Transport.(*direct)

	call(t, conn, h, "1")
	idle := waitIdle(t, conn)
	d.sweep()
	call(t, conn, h, "2")
	if n := s.conns.Load(); n != 1 {
		t.Fatalf("%d connections, want the one that was used just now", n)
	}
	waitIdle(t, conn)
	idle.since = time.Now().Add(-2 * idleTime)
	d.sweep()
	s.over(t)

	call(t, conn, h, "3")
	waitIdle(t, conn)
	conn.Close()
	s.over(t)
}

func TestACallTakenBackLeavesNoConnection(t *testing.T) {
	s := wire(t, func(_ int, c net.Conn, body string) bool { return true })
	conn, _ := dial(t, Options{URL: s.url})
	send(t, conn, modern("1", "tools/call", `"name":"a"`))
	for s.conns.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	send(t, conn, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	s.over(t)
}

func TestALargeCallIsRefusedBeforeItIsRead(t *testing.T) {
	f := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusRequestEntityTooLarge) }))
	defer f.Close()
	for _, size := range []int{largestDirect / 2, 2 * largestDirect} {
		conn, h := dial(t, Options{URL: f.URL})
		send(t, conn, modern("1", "tools/call", `"name":"a","arguments":{"a":"`+strings.Repeat("x", size)+`"}`))
		if text := h.next(); !strings.Contains(text, "413") {
			t.Errorf("%d bytes: %s does not say what the server did", size, text)
		}
	}
}

func TestNoHeaderBringsAnother(t *testing.T) {
	f := serve(t, func(w http.ResponseWriter, r *http.Request, body string) { asJSON(w, 200, result(body, "{}")) })
	to, _ := url.Parse(f.URL)
	req := newRequest(t.Context(), to, []byte("{}"))
	req.Header.Set("Authorization", "Bearer x\r\nX-Admin: yes")
	if _, err := newDirect(&http.Transport{}, to).RoundTrip(req); err == nil || !strings.Contains(err.Error(), "line break") {
		t.Errorf("got %v", err)
	}
	f.silent(t)

	conn, h := dial(t, Options{URL: f.URL, Header: http.Header{"Content-Length": {"3"}, "Transfer-Encoding": {"chunked"}, "User-Agent": {"mine"}}})
	call(t, conn, h, "2")
	r := f.heard(t)
	if got := r.Header.Get("User-Agent"); got != "mine" || idOf(r.Body) != "2" {
		t.Errorf("got user agent %q, body %q", got, r.Body)
	}
}

func TestAProxyIsAskedWhereThereIsOne(t *testing.T) {
	asked := make(chan string, 1)
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.RequestURI }))
	defer proxy.Close()
	through, _ := url.Parse(proxy.URL)
	to, _ := url.Parse("http://server.invalid/mcp")
	d := newDirect(&http.Transport{Proxy: http.ProxyURL(through)}, to)
	defer d.CloseIdleConnections()
	resp, err := d.RoundTrip(newRequest(t.Context(), to, []byte("{}")))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got := <-asked; got != to.String() {
		t.Errorf("the proxy was asked for %s", got)
	}
}

func TestTheEndOfAContextIsTheErrorOfItsRequest(t *testing.T) {
	s := wire(t, func(_ int, c net.Conn, body string) bool { return true })
	to, _ := url.Parse(s.url)
	d := newDirect(&http.Transport{DialContext: new(net.Dialer).DialContext}, to)
	defer d.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := d.RoundTrip(newRequest(ctx, to, []byte("{}"))); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
