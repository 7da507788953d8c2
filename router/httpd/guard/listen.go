package guard

import (
	"fmt"
	"net"
	"net/netip"
	"sync"
)

// Listen listens on a TCP address host:port. Beyond loopback it refuses to unless requests need a credential or
// [Options.Unauthenticated] says that it is meant. No more than [Options.MaxConnections] are accepted at a time.
func (g *Guard) Listen(addr string) (net.Listener, error) {
	if !g.Authenticates() && !g.Unauthenticated && !loopback(addr) {
		return nil, fmt.Errorf("on %s everybody who reaches this machine could use its servers: "+
			"give out tokens ([http.tokens], see toolman token) or use [http.jwt], or listen on 127.0.0.1; "+
			`if it is meant, write unauthenticated = "anybody-may-connect" in [http]`, addr)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listening on %s: %w", addr, err)
	}
	return limited(l, g.MaxConnections), nil
}

// loopback reports whether only this machine reaches an address.
func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.Unmap().IsLoopback()
}

// A limitedListener accepts the next connection when there are few enough.
type limitedListener struct {
	net.Listener
	open   chan struct{} // one element a connection
	closed chan struct{}
	once   sync.Once
}

func limited(l net.Listener, most int) net.Listener {
	return &limitedListener{Listener: l, open: make(chan struct{}, most), closed: make(chan struct{})}
}

// Accept implements net.Listener.
func (l *limitedListener) Accept() (net.Conn, error) {
	select {
	case l.open <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.open
		return nil, err
	}
	return &limitedConn{Conn: c, leave: func() { <-l.open }}, nil
}

// Close implements net.Listener.
func (l *limitedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

type limitedConn struct {
	net.Conn
	leave func()
	once  sync.Once
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(c.leave)
	return err
}
