package guard

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

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
