package guard

import (
	"container/list"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"

	"toolman/router/budget"
)

// unknownShare is the share of all connections that may be unauthenticated, where requests need a
// credential: 1 of 4.
const unknownShare = 4

// Listen listens on a TCP address host:port. Beyond loopback it refuses to, unless requests need a
// credential or [Options.Unauthenticated] is set. At most [Options.MaxConnections] connections are
// open at a time; see [Guard.Server] for what is closed then.
func (g *Guard) Listen(addr string) (net.Listener, error) {
	if !g.Authenticates() && !g.Unauthenticated && !isLoopback(addr) {
		return nil, fmt.Errorf("on %s every client that reaches this machine could use its servers: "+
			"give out tokens ([http.tokens], see toolman token) or use [http.jwt], or listen on 127.0.0.1; "+
			`if it is meant, write unauthenticated = "anybody-may-connect" in [http], and in allowed_hosts the names that clients use`, addr)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listening on %s: %w", addr, err)
	}
	return g.limited(l), nil
}

// isLoopback reports whether an address can be reached from this machine only.
func isLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.Unmap().IsLoopback()
}

// A listener limits the connections that it accepts. If there is no room for another one, it closes
// an unauthenticated one, or else an idle one, of the owner that has most of all connections.
type listener struct {
	net.Listener
	g          *Guard
	maxUnknown int           // unauthenticated connections
	changed    chan struct{} // receives when there may be room, or an idle connection; of capacity 1
	closed     chan struct{}
	closing    sync.Once

	mu      sync.Mutex
	all     int                  // guarded by mu
	unknown int                  // guarded by mu: how many are unauthenticated
	of      map[owner]*list.List // guarded by mu: of *conn; the one that was idle for longest is first
}

// An owner of connections is the client whose credential they had, or else a network.
type owner struct {
	client  budget.Principal
	network string
}

// A conn is an accepted connection.
type conn struct {
	net.Conn
	l       *listener
	known   atomic.Bool // it is authenticated, or from a trusted proxy; changes with l.mu held
	closing sync.Once

	owner   owner           // guarded by l.mu
	at      *list.Element   // guarded by l.mu: in the list of its owner; nil if it is in none
	idle    bool            // guarded by l.mu: it serves no request
	account *budget.Account // guarded by l.mu: of the client; nil for a network
}

// limited limits the connections of a listener.
func (g *Guard) limited(from net.Listener) net.Listener {
	l := &listener{Listener: from, g: g, maxUnknown: g.MaxConnections,
		changed: make(chan struct{}, 1), closed: make(chan struct{}), of: map[owner]*list.List{}}
	if g.Authenticates() {
		l.maxUnknown = max(1, g.MaxConnections/unknownShare)
	}
	return l
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	at, _ := netip.ParseAddrPort(nc.RemoteAddr().String())
	from := at.Addr().Unmap().WithZone("")
	c := &conn{Conn: nc, l: l, owner: owner{network: network(from)}, idle: true}
	c.known.Store(l.g.trusted(from))
	if !l.add(c) {
		c.Close()
		return nil, net.ErrClosed
	}
	return c, nil
}

// Close implements net.Listener.
func (l *listener) Close() error {
	l.closing.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// add adds a connection, and waits for room if there is none; false if the listener was closed
// before.
func (l *listener) add(c *conn) bool {
	for {
		l.mu.Lock()
		full, victim := l.fullLocked(c)
		if !full {
			l.addLocked(c)
		}
		l.mu.Unlock()
		switch {
		case !full:
			return true
		case victim != nil:
			victim.Close()
			continue
		}
		select {
		case <-l.changed:
		case <-l.closed:
			return false
		}
	}
}

// fullLocked reports whether there is no room for a connection, and which one to close then; nil:
// none.
func (l *listener) fullLocked(c *conn) (full bool, victim *conn) {
	switch {
	case l.all < l.g.MaxConnections && (c.known.Load() || l.unknown < l.maxUnknown):
		return false, nil
	case l.maxUnknown < l.g.MaxConnections && l.unknown > 0:
		return true, l.firstLocked(func(c *conn) bool { return !c.known.Load() })
	}
	return true, l.firstLocked(isIdle)
}

func isIdle(c *conn) bool { return c.idle }

// firstLocked returns the first suitable connection, of the owner that has most.
func (l *listener) firstLocked(suitable func(*conn) bool) (found *conn) {
	most := 0
	for _, conns := range l.of {
		if conns.Len() > most {
			if c := first(conns, suitable); c != nil {
				found, most = c, conns.Len()
			}
		}
	}
	return found
}

// first returns the first suitable connection; nil if there is none. conns may be nil.
func first(conns *list.List, suitable func(*conn) bool) *conn {
	if conns == nil {
		return nil
	}
	for at := conns.Front(); at != nil; at = at.Next() {
		if c := at.Value.(*conn); suitable(c) {
			return c
		}
	}
	return nil
}

func (l *listener) addLocked(c *conn) {
	if l.of[c.owner] == nil {
		l.of[c.owner] = list.New()
	}
	c.at = l.of[c.owner].PushBack(c)
	l.all++
	if !c.known.Load() {
		l.unknown++
	}
}

func (l *listener) removeLocked(c *conn) {
	conns := l.of[c.owner]
	conns.Remove(c.at)
	c.at = nil
	if conns.Len() == 0 {
		delete(l.of, c.owner)
	}
	l.all--
	if !c.known.Load() {
		l.unknown--
	}
}

// claim gives a connection to the client that was the first to send a valid credential over it. The
// error is a *budget.LimitError: the client has as many as it may, and none of them is idle.
func (l *listener) claim(c *conn, p budget.Principal) error {
	if c.known.Load() || p.Anonymous() {
		return nil
	}
	account := l.g.Budgets.Open(p)
	client := owner{client: p.Client()}
	l.mu.Lock()
	defer l.mu.Unlock()
	for err := account.Take(budget.Connections, 1); err != nil; err = account.Take(budget.Connections, 1) {
		idle := first(l.of[client], isIdle)
		if idle == nil {
			account.Close()
			return err
		}
		l.mu.Unlock()
		idle.Close()
		l.mu.Lock()
	}
	if c.at == nil || c.known.Load() { // it is closed, or another request on it was first
		account.Give(budget.Connections, 1)
		account.Close()
		return nil
	}
	l.removeLocked(c)
	c.known.Store(true)
	c.owner, c.account = client, account
	l.addLocked(c)
	return nil
}

// noteState is http.Server.ConnState.
func noteState(nc net.Conn, state http.ConnState) {
	c := connOf(nc)
	if c == nil || state == http.StateClosed {
		return
	}
	idle := state == http.StateNew || state == http.StateIdle
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	if c.at == nil || idle == c.idle {
		return
	}
	if c.idle = idle; idle {
		c.l.of[c.owner].MoveToBack(c.at)
		c.l.wake()
	}
}

func (l *listener) wake() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// Close implements net.Conn.
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.closing.Do(func() {
		c.l.mu.Lock()
		if c.at != nil {
			c.l.removeLocked(c)
		}
		account := c.account
		c.l.mu.Unlock()
		if account != nil {
			account.Give(budget.Connections, 1)
			account.Close()
		}
		c.l.wake()
	})
	return err
}

// connOf returns the accepted connection in one of net/http; nil if there is none.
func connOf(nc net.Conn) *conn {
	if t, ok := nc.(*tls.Conn); ok {
		nc = t.NetConn()
	}
	c, _ := nc.(*conn)
	return c
}

type connKey struct{}

// withConn is http.Server.ConnContext.
func withConn(ctx context.Context, nc net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, connOf(nc))
}

// claimConn gives the connection of a request to its client. See [listener.claim].
func claimConn(r *http.Request, p budget.Principal) error {
	if c, _ := r.Context().Value(connKey{}).(*conn); c != nil {
		return c.l.claim(c, p)
	}
	return nil
}
