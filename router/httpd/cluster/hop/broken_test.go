package hop

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"toolman/fixtures/process"
	"toolman/mcpwire/httpbody"
)

func waitFor(t testing.TB, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patient); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nothing happens")
		}
	}
}

const (
	okay   = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
	events = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
)

func chunk(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }

func TestBrokenResponses(t *testing.T) {
	large := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", 2*wholeBody, strings.Repeat("x", wholeBody))
	for name, c := range map[string]struct {
		response string // before the replica dies
		want     Result
		body     string
	}{
		"nothing":         {"", Result{Sent: true}, ""},
		"header":          {"HTTP/1.1 200 OK\r\nContent-", Result{Sent: true}, ""},
		"JSON":            {strings.TrimSuffix(okay, "}"), Result{Sent: true}, ""},
		"hints":           {"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", Result{Sent: true}, ""},
		"protocol":        {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", Result{Sent: true}, ""},
		"not HTTP":        {"SSH-2.0-OpenSSH\r\n\r\n", Result{Sent: true}, ""},
		"endless header":  {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 2*maxHeader), Result{Sent: true}, ""},
		"endless hints":   {strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", 1000), Result{Sent: true}, ""},
		"large":           {large, Result{Sent: true, Began: true}, strings.Repeat("x", wholeBody)},
		"no event":        {events, Result{Sent: true, Began: true, Events: true}, ""},
		"between events":  {events + chunk("data: a\n\n"), Result{Sent: true, Began: true, Events: true}, "data: a\n\n"},
		"between, CRLF":   {events + chunk("data: a\r\n\r\n"), Result{Sent: true, Began: true, Events: true}, "data: a\r\n\r\n"},
		"in small chunks": {events + chunk("data: a\n") + chunk("\n"), Result{Sent: true, Began: true, Events: true}, "data: a\n\n"},
		"in an event":     {events + chunk("data: a\n\ndata: b"), Result{Sent: true, Began: true, Events: true}, "data: a\n\ndata: b\nevent: incomplete\n\n"},
		"after its line":  {events + chunk("data: b\n"), Result{Sent: true, Began: true, Events: true}, "data: b\nevent: incomplete\n\n"},
		"after CR":        {events + chunk("data: b\r"), Result{Sent: true, Began: true, Events: true}, "data: b\r\nevent: incomplete\n\n"},
		"in a chunk":      {events + "ff\r\nd", Result{Sent: true, Began: true, Events: true}, "d\nevent: incomplete\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			keys := identity(t, 1)
			var requests atomic.Int32
			address, conns := raw(t, keys, func(n int, conn *tls.Conn, _ *http.Request, body string) bool {
				if requests.Add(1) == 1 { // so that the next one finds a used connection
					io.WriteString(conn, okay)
					return true
				}
				io.WriteString(conn, c.response)
				kill(conn)
				return false
			})
			client := newClient(t, keys)
			if _, got := post(t.Context(), client, address, "{}"); got.Err != nil {
				t.Fatal(got.Err)
			}
			w, got := post(t.Context(), client, address, "{}")
			if got.Err == nil || len(got.Err.Error()) > 1000 {
				t.Errorf("the error is %v", got.Err)
			}
			got.Err = nil
			if got != c.want || w.Body.String() != c.body {
				t.Errorf("got %+v, %.100q", got, w.Body)
			}
			if requests.Load() != 2 || conns.Load() != 1 {
				t.Errorf("%d requests on %d connections", requests.Load(), conns.Load())
			}
		})
	}
}

func TestEventCanBeAppendedToABrokenStream(t *testing.T) {
	keys := identity(t, 1)
	address, _ := raw(t, keys, func(_ int, conn *tls.Conn, _ *http.Request, _ string) bool {
		io.WriteString(conn, events+chunk("event: message\ndata: {}\n\nevent: message\ndata: {\"half"))
		kill(conn)
		return false
	})
	w, got := post(t.Context(), newClient(t, keys), address, "{}")
	if !got.Events {
		t.Fatalf("got %+v", got)
	}
	w.Write(httpbody.AppendEvent(nil, "message", []byte(`"gone"`)))
	in := httpbody.NewEventReader(bytes.NewReader(w.Body.Bytes()), 1000)
	var text []string
	for {
		e, err := in.Next()
		if err != nil {
			break
		}
		text = append(text, e.Name+" "+string(e.Data))
	}
	if s := strings.Join(text, "|"); s != `message {}|incomplete {"half|message "gone"` {
		t.Errorf("got %s", s)
	}
}

// Requests of all methods are sent once, also those that net/http would repeat.
func TestNothingIsRepeated(t *testing.T) {
	keys := identity(t, 1)
	for _, method := range []string{"POST", "GET", "DELETE", "PUT"} {
		var requests atomic.Int32
		address, _ := raw(t, keys, func(_ int, conn *tls.Conn, r *http.Request, _ string) bool {
			if requests.Add(1) == 1 {
				io.WriteString(conn, okay)
				return true
			}
			return false // closes the connection as if it had been idle
		})
		c := newClient(t, keys)
		for n := range 2 {
			r := httptest.NewRequest(method, "/mcp", nil)
			r.Header.Set("Idempotency-Key", "k")
			got := c.Forward(t.Context(), httptest.NewRecorder(), r, nil, address, head())
			if (got.Err != nil) != (n == 1) || !got.Sent || got.Refused {
				t.Errorf("%s %d: %+v", method, n, got)
			}
		}
		if n := requests.Load(); n != 2 {
			t.Errorf("%s: %d requests, want 2", method, n)
		}
	}
}

func TestConnectionsThatEndWhileIdle(t *testing.T) {
	keys := identity(t, 1)
	for name, end := range map[string]func(*tls.Conn){
		"farewell":         func(c *tls.Conn) { c.Close() },
		"killed":           kill,
		"reset":            func(c *tls.Conn) { c.NetConn().(*net.TCPConn).SetLinger(0); kill(c) },
		"half closed":      func(c *tls.Conn) { c.CloseWrite() },
		"another response": func(c *tls.Conn) { io.WriteString(c, okay) },
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int32
			idle, ended := make(chan bool, 1), make(chan bool, 1)
			address, conns := raw(t, keys, func(n int, conn *tls.Conn, _ *http.Request, _ string) bool {
				requests.Add(1)
				io.WriteString(conn, okay)
				if n == 1 {
					<-idle
					end(conn)
					ended <- true
				}
				return true
			})
			c := newClient(t, keys)
			for n := range 2 {
				w, got := post(t.Context(), c, address, "{}")
				if got != (Result{Sent: true, Began: true}) || w.Body.String() != "{}" {
					t.Errorf("request %d: %+v, %s", n, got, w.Body)
				}
				if n == 0 {
					idle <- true
					get(t, ended)
					waitFor(t, func() bool { return !c.pool.idle[address][0].alive() })
				}
			}
			if conns.Load() != 2 || requests.Load() != 2 {
				t.Errorf("%d requests on %d connections", requests.Load(), conns.Load())
			}
		})
	}
}

func TestConnectionThatTakesNoByteHasNotSent(t *testing.T) {
	keys := identity(t, 1)
	address, conns := raw(t, keys, func(_ int, conn *tls.Conn, _ *http.Request, _ string) bool {
		io.WriteString(conn, okay)
		<-t.Context().Done() // does not notice that the connection ends
		return false
	})
	for _, size := range []int{2, maxAtOnce + 1} {
		c := newClient(t, keys)
		post(t.Context(), c, address, "{}")
		c.pool.idle[address][0].Conn.(*net.TCPConn).CloseWrite() // as if the reset came after the check
		_, got := post(t.Context(), c, address, strings.Repeat("x", size))
		if got.Err == nil || got.Sent || got.Refused || got.Began {
			t.Errorf("%d bytes: %+v", size, got)
		}
	}
	if n := conns.Load(); n != 2 {
		t.Errorf("%d connections", n)
	}
}

func TestReplicaThatDiesInTheHandshake(t *testing.T) {
	l := listen(t)
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			c.Close()
		}
	}()
	_, got := post(t.Context(), newClient(t, identity(t, 1)), l.Addr().String(), "{}")
	if got.Err == nil || got.Sent || got.Refused {
		t.Errorf("got %+v", got)
	}
}

func TestReplicaThatDiesWhileItReads(t *testing.T) {
	keys := identity(t, 1)
	l := listen(t)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		secure := tls.Server(c, keys.Server())
		io.ReadFull(secure, make([]byte, 100_000))
		kill(secure)
	}()
	_, got := post(t.Context(), newClient(t, keys), l.Addr().String(), strings.Repeat("x", 16<<20))
	if got.Err == nil || !got.Sent || got.Refused || got.Began {
		t.Errorf("got %+v", got)
	}
}

func TestNobodyListens(t *testing.T) {
	_, got := post(t.Context(), newClient(t, identity(t, 1)), "127.0.0.1:"+process.FreePort(t), "{}")
	if !got.Refused || got.Sent || got.Began || !errors.Is(got.Err, ErrRefused) {
		t.Errorf("got %+v", got)
	}
}

func TestSilentHandshakeEnds(t *testing.T) {
	l := listen(t)
	_, got := post(t.Context(), NewClient(identity(t, 1)), l.Addr().String(), "{}")
	if got.Err == nil || got.Sent || got.Refused {
		t.Errorf("got %+v", got)
	}
}

func TestUselessConnectionsAreNotKept(t *testing.T) {
	keys := identity(t, 1)
	for name, response := range map[string]string{
		"closing":       strings.Replace(okay, "\r\n", "\r\nConnection: close\r\n", 1),
		"more than one": okay + okay,
	} {
		address, conns := raw(t, keys, func(_ int, conn *tls.Conn, _ *http.Request, _ string) bool {
			io.WriteString(conn, response)
			return true
		})
		c := newClient(t, keys)
		for range 2 {
			if w, got := post(t.Context(), c, address, "{}"); got.Err != nil || w.Body.String() != "{}" {
				t.Errorf("%s: %+v", name, got)
			}
		}
		if n := conns.Load(); n != 2 {
			t.Errorf("%s: %d connections", name, n)
		}
	}
}

func TestIdleConnectionsEnd(t *testing.T) {
	keys := identity(t, 1)
	o := own(t, keys, func(w http.ResponseWriter, _ *http.Request, _ Head) { io.WriteString(w, "{}") })
	c := newClient(t, keys)
	open := func(conns, idle int) {
		t.Helper()
		if _, got := post(t.Context(), c, o.address, "{}"); got.Err != nil {
			t.Fatal(got.Err)
		}
		if n := int(o.conns.Load()); n != conns || len(c.pool.idle[o.address]) != idle {
			t.Fatalf("%d connections, %d idle; want %d, %d", n, len(c.pool.idle[o.address]), conns, idle)
		}
	}
	open(1, 1)
	c.pool.sweep()
	open(1, 1)
	c.pool.idle[o.address][0].idleSince = time.Now().Add(-2 * clientIdle)
	c.pool.sweep()
	if len(c.pool.idle) != 0 {
		t.Error("the address is kept")
	}
	open(2, 1)
	c.Close()
	open(3, 0)
	open(4, 0)
}
