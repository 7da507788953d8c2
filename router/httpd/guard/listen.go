package guard

import (
	"fmt"
	"net"
	"net/netip"
	"sync"
)

// Listen listens on a TCP address host:port. Beyond loopback it refuses to unless requests need a credential or
// [Options.Unauthenticated] says that it is meant. There are no more than
// [Options.MaxConnections] connections at a time; see [Guard.Server] for what is closed then.
func (g *Guard) Listen(addr string) (net.Listener, error) {
	if !g.Authenticates() && !g.Unauthenticated && !loopback(addr) {
		return nil, fmt.Errorf("on %s everybody who reaches this machine could use its servers: "+
			"give out tokens ([http.tokens], see toolman token) or use [http.jwt], or listen on 127.0.0.1; "+
			`if it is meant, write unauthenticated = "anybody-may-connect" in [http], and in allowed_hosts the names that clients use`, addr)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listening on %s: %w", addr, err)
	}
	return g.limited(l), nil
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

// A limitedListener accepts connections as long as there is room for them.
type limitedListener struct {
	net.Listener
	conns  *connections
	closed chan struct{}
	once   sync.Once
}

// limited limits the connections of a listener.
func (g *Guard) limited(l net.Listener) net.Listener {
	x := &connections{most: g.MaxConnections, strangers: g.MaxConnections, trusted: g.trusted, budgets: g.Budgets,
		changed: make(chan struct{}, 1), of: map[holder]*holding{}}
	if g.Authenticates() {
		x.strangers = max(1, g.MaxConnections/strangersShare)
	}
	return &limitedListener{Listener: l, conns: x, closed: make(chan struct{})}
}

// Accept implements net.Listener.
func (l *limitedListener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: nc, x: l.conns}
	if !l.conns.hold(c, l.closed) {
		c.Close()
		return nil, net.ErrClosed
	}
	return c, nil
}

// Close implements net.Listener.
func (l *limitedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}
