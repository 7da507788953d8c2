package guard

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolman/router/budget"
)

// patient is how long a test waits for what must happen.
const patient = time.Minute

// A wire is a connection over which requests are sent one after another.
type wire struct {
	net.Conn
	in *bufio.Reader
}

func dial(t *testing.T, addr string) *wire {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patient))
	return &wire{c, bufio.NewReader(c)}
}

// get returns the status of the response to a request; 0: the connection has ended.
func (c *wire) get(path, token string) int {
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\n", path)
	if token != "" {
		fmt.Fprintf(c, "Authorization: Bearer %s\r\n", token)
	}
	fmt.Fprint(c, "\r\n")
	r, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return 0
	}
	io.Copy(io.Discard, r.Body)
	return r.StatusCode
}

// ended reports whether the other end closes the connection within a time.
func (c *wire) ended(within time.Duration) bool {
	c.SetReadDeadline(time.Now().Add(within))
	_, err := c.in.Peek(1)
	timeout, ok := err.(net.Error)
	return err != nil && !(ok && timeout.Timeout())
}

func TestStrangersLeaveConnectionsToClients(t *testing.T) {
	token, hash := withToken("alice")
	addr := start(t, Options{Tokens: []Token{hash}, MaxConnections: 8})
	alice := dial(t, addr)
	if got := alice.get("/mcp", token); got != 200 {
		t.Fatalf("alice gets %d", got)
	}
	var strangers []*wire
	for range 20 {
		c := dial(t, addr)
		if got := c.get(MetadataPath, ""); got == 0 {
			t.Fatalf("a stranger gets %d", got)
		}
		strangers = append(strangers, c)
	}
	for range 3 {
		if got := dial(t, addr).get("/mcp", token); got != 200 {
			t.Errorf("another connection of alice gets %d", got)
		}
	}
	if got := alice.get("/mcp", token); got != 200 {
		t.Errorf("the connection that alice has had gets %d", got)
	}
	for late := time.Now().Add(patient); ; { // a busy server closes them late
		open := 0
		for _, c := range strangers {
			if !c.ended(50 * time.Millisecond) {
				open++
			}
		}
		if open <= 2 {
			break
		}
		if time.Now().After(late) {
			t.Fatalf("%d of 8 connections are of strangers", open)
		}
	}
}

func TestAnIdleConnectionMakesRoom(t *testing.T) {
	addr := start(t, Options{MaxConnections: 3})
	first := dial(t, addr)
	first.get("/mcp", "")
	for late := time.Now().Add(patient); !first.ended(50 * time.Millisecond); { // the server may note late that it is idle
		if time.Now().After(late) {
			t.Fatal("the connection that was idle for longest is open")
		}
		if got := dial(t, addr).get("/mcp", ""); got != 200 {
			t.Fatalf("another connection gets %d", got)
		}
	}
}

func TestEachClientHasSoManyConnections(t *testing.T) {
	alice, a := withToken("alice")
	bob, b := withToken("bob")
	budgets := budget.New(budget.Limits{budget.Connections: 2}, budget.Limits{})
	addr := start(t, Options{Tokens: []Token{a, b}, Budgets: budgets})
	var busy []*wire
	for range 2 {
		c := dial(t, addr)
		fmt.Fprintf(c, "GET /mcp/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", alice)
		if _, err := c.in.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		busy = append(busy, c)
	}
	third := dial(t, addr)
	if got := third.get("/mcp", alice); got != 429 || !third.ended(patient) {
		t.Errorf("a third connection of alice gets %d", got)
	}
	if got := dial(t, addr).get("/mcp", bob); got != 200 {
		t.Errorf("bob gets %d", got)
	}
	busy[0].Close()
	for i := range 5 { // the server notices its end in a moment; the next one is idle then
		status := 0
		for late := time.Now().Add(patient); time.Now().Before(late); time.Sleep(10 * time.Millisecond) {
			if status = dial(t, addr).get("/mcp", alice); status == 200 {
				break
			}
		}
		if status != 200 {
			t.Fatalf("connection %d of alice after one has ended gets %d", i, status)
		}
	}
	busy[1].Close()
}

func TestBeyondLoopbackNobodyListensWithoutCredentials(t *testing.T) {
	_, hash := withToken("a")
	for _, tt := range []struct {
		name string
		o    Options
		addr string
		want bool
	}{
		{"loopback", Options{}, "127.0.0.1:0", true},
		{"another loopback address", Options{}, "127.3.2.1:0", true},
		{"localhost", Options{}, "localhost:0", true},
		{"every address", Options{}, "0.0.0.0:0", false},
		{"every address, in IPv6", Options{}, "[::]:0", false},
		{"no address", Options{}, ":0", false},
		{"a name", Options{}, "host.example:0", false},
		{"a name like localhost", Options{}, "localhost.example:0", false},
		{"no address at all", Options{}, "127.0.0.1", false},
		{"with a token", Options{Tokens: []Token{hash}}, ":0", true},
		{"when it is meant", Options{Unauthenticated: true}, "0.0.0.0:0", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, err := New(tt.o)
			if err != nil {
				t.Fatal(err)
			}
			l, err := g.Listen(tt.addr)
			if err == nil {
				l.Close()
			}
			if (err == nil) != tt.want {
				t.Errorf("got %v", err)
			}
			if err != nil && !(strings.Contains(err.Error(), "toolman token") && strings.Contains(err.Error(), "anybody-may-connect")) {
				t.Errorf("the message does not say what to do: %v", err)
			}
		})
	}
}

func TestOnlySoManyConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipes()
		g, err := New(Options{MaxConnections: 2})
		if err != nil {
			t.Fatal(err)
		}
		l := g.limited(p)
		accepted := make(chan net.Conn, 10)
		go func() {
			defer close(accepted)
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				noteState(c, http.StateActive)
				accepted <- c
			}
		}()
		for range 3 {
			go p.dial()
		}
		synctest.Wait()
		if len(accepted) != 2 {
			t.Errorf("%d connections, want 2", len(accepted))
		}
		first := <-accepted
		first.Close()
		first.Close() // makes room once
		synctest.Wait()
		if len(accepted) != 2 {
			t.Errorf("%d connections, want the third as well", len(accepted))
		}
		go p.dial()
		time.Sleep(time.Second)
		if len(accepted) != 2 {
			t.Errorf("%d connections after one has closed twice", len(accepted))
		}
		l.Close() // also ends an Accept that waits for room
		for c := range accepted {
			c.Close()
		}
		synctest.Wait()
	})
}

// pipes is a listener without a network, for servers in a bubble of synctest.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// dial is a connection to the listener; nil when it is closed.
func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client
	case <-p.closed:
		return nil
	}
}
