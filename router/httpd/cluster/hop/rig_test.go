package hop

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// patient is how long a test waits for what must happen.
const patient = time.Minute

func secret(c byte) []byte { return bytes.Repeat([]byte{c}, minSecret) }

// identity returns the keys of these secrets.
func identity(t testing.TB, secrets ...byte) *Identity {
	t.Helper()
	var all [][]byte
	for _, c := range secrets {
		all = append(all, secret(c))
	}
	i, err := NewIdentity(all, "test")
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// An owner is the replica that requests are forwarded to.
type owner struct {
	*http.Server
	address string
	conns   atomic.Int32 // that were accepted
}

// own starts a replica called bbbbbbbb.
func own(t testing.TB, i *Identity, next func(http.ResponseWriter, *http.Request, Head)) *owner {
	t.Helper()
	o := &owner{Server: NewServer(i, "bbbbbbbb", next)}
	o.ErrorLog = log.New(io.Discard, "", 0)
	o.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			o.conns.Add(1)
		}
	}
	l := listen(t)
	o.address = l.Addr().String()
	go o.ServeTLS(l, "", "")
	t.Cleanup(func() { o.Close() })
	return o
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// raw starts a replica that writes responses byte for byte. serve gets each request whole, and
// reports whether it reads another one there; n counts connections.
func raw(t testing.TB, i *Identity, serve func(n int, c *tls.Conn, r *http.Request, body string) bool) (address string, conns *atomic.Int32) {
	t.Helper()
	l := listen(t)
	conns = new(atomic.Int32)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n := int(conns.Add(1))
			go func() {
				defer c.Close()
				secure := tls.Server(c, i.Server())
				in := bufio.NewReader(secure)
				for {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					body, _ := io.ReadAll(r.Body)
					if !serve(n, secure, r, string(body)) {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String(), conns
}

// kill ends a connection as the end of its process does: without a farewell of TLS.
func kill(c *tls.Conn) { c.NetConn().Close() }

// head is what an edge knows in these tests.
func head() Head { return Head{From: "aaaaaaaa", To: "bbbbbbbb", Unit: "u", Hops: 1} }

// newClient makes a client that waits for a busy replica.
func newClient(t testing.TB, i *Identity) *Client {
	t.Helper()
	c := NewClient(i)
	c.dialer.Timeout, c.handshake = patient, patient
	t.Cleanup(c.Close)
	return c
}

// post forwards a POST, and returns what the client gets.
func post(ctx context.Context, c *Client, address, body string) (*httptest.ResponseRecorder, Result) {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
	r.Header.Set("Content-Type", "application/json")
	return w, c.Forward(ctx, w, r, []byte(body), address, head())
}

// An edge is a server that forwards what it gets.
type edge struct {
	url     string
	results chan Result
}

// forwarding starts an edge for an owner.
func forwarding(t testing.TB, c *Client, address string) *edge {
	t.Helper()
	e := &edge{results: make(chan Result, 100)}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Request-Id", "edge")
		e.results <- c.Forward(r.Context(), w, r, body, address, head())
	}))
	t.Cleanup(s.Close)
	e.url = s.URL
	return e
}

// result waits for the end of a forward.
func (e *edge) result(t testing.TB) Result {
	t.Helper()
	return get(t, e.results)
}

func get[T any](t testing.TB, from <-chan T) T {
	t.Helper()
	select {
	case got := <-from:
		return got
	case <-time.After(patient):
		t.Fatal("nothing happens")
		panic("")
	}
}
