package guard

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"

	"toolman/router/budget"
	"toolman/router/principal"
)

// strangersShare is the part of all connections that those may be, where requests need a credential,
// that have not had a request with a right one: 1 of 4.
const strangersShare = 4

// connections are those that a listener has accepted. Where there are too many for one more, one ends:
// of strangers, and otherwise an idle one. Those of who has the most are first.
type connections struct {
	most, strangers int // how many there may be, and how many of them of strangers
	trusted         func(netip.Addr) bool
	budgets         *budget.Budgets
	changed         chan struct{} // there may be room, or an idle one; of capacity 1

	mu      sync.Mutex
	all     int                 // guarded by mu
	unknown int                 // guarded by mu: how many are of strangers
	of      map[holder]*holding // guarded by mu
}

// A holder is who has connections: the client whose credential they had, or else a network.
type holder struct {
	client  principal.Principal
	network string
}

// A holding is what a holder has, the one that was idle for longest first.
type holding struct {
	conns list.List // of *conn
	idle  int
}

// A conn is an accepted connection.
type conn struct {
	net.Conn
	x       *connections
	known   atomic.Bool // it is not a stranger's; changes with x.mu held
	closing sync.Once

	holder  holder          // guarded by x.mu
	at      *list.Element   // guarded by x.mu: in its holding; nil: it is in none
	idle    bool            // guarded by x.mu: no request is under way
	account *budget.Account // guarded by x.mu: of the client; nil for other holders
}

// hold takes a connection in, and waits for room if there is none; false: closed was closed before.
func (x *connections) hold(c *conn, closed <-chan struct{}) bool {
	at, _ := netip.ParseAddrPort(c.RemoteAddr().String())
	from := at.Addr().Unmap().WithZone("")
	c.holder, c.idle = holder{network: network(from)}, true
	c.known.Store(x.trusted(from))
	for {
		x.mu.Lock()
		fits, victim := x.fitsLocked(c)
		if fits {
			x.addLocked(c)
		}
		x.mu.Unlock()
		switch {
		case fits:
			return true
		case victim != nil:
			victim.Close()
			continue
		}
		select {
		case <-x.changed:
		case <-closed:
			return false
		}
	}
}

// fitsLocked reports whether there is room for a connection, and otherwise which one ends for it; nil:
// none of them.
func (x *connections) fitsLocked(c *conn) (fits bool, victim *conn) {
	stranger := !c.known.Load()
	switch {
	case x.all < x.most && (!stranger || x.unknown < x.strangers):
		return true, nil
	case x.strangers < x.most && x.unknown > 0:
		return false, x.firstLocked(func(h holder, of *holding) int {
			if of.front().known.Load() {
				return 0
			}
			return of.conns.Len()
		}, func(*conn) bool { return true })
	case x.all < x.most:
		return false, nil
	}
	return false, x.firstLocked(func(h holder, of *holding) int {
		if of.idle == 0 {
			return 0
		}
		return of.conns.Len()
	}, func(c *conn) bool { return c.idle })
}

func (of *holding) front() *conn { return of.conns.Front().Value.(*conn) }

// firstLocked returns the first suitable connection of the holder that has the most by a measure.
func (x *connections) firstLocked(measure func(holder, *holding) int, suits func(*conn) bool) *conn {
	var largest *holding
	most := 0
	for h, of := range x.of {
		if n := measure(h, of); n > most {
			largest, most = of, n
		}
	}
	if largest == nil {
		return nil
	}
	return largest.first(suits)
}

func (of *holding) first(suits func(*conn) bool) *conn {
	for at := of.conns.Front(); at != nil; at = at.Next() {
		if c := at.Value.(*conn); suits(c) {
			return c
		}
	}
	return nil
}

func (x *connections) addLocked(c *conn) {
	of := x.of[c.holder]
	if of == nil {
		of = &holding{}
		x.of[c.holder] = of
	}
	c.at = of.conns.PushBack(c)
	if c.idle {
		of.idle++
	}
	x.all++
	if !c.known.Load() {
		x.unknown++
	}
}

func (x *connections) removeLocked(c *conn) {
	of := x.of[c.holder]
	of.conns.Remove(c.at)
	c.at = nil
	if c.idle {
		of.idle--
	}
	if of.conns.Len() == 0 {
		delete(x.of, c.holder)
	}
	x.all--
	if !c.known.Load() {
		x.unknown--
	}
}

// claim counts a connection with the client that has sent a right credential over it first. The error
// is a *budget.LimitError: it has as many as it may, and none of them is idle.
func (x *connections) claim(c *conn, p principal.Principal) error {
	if c.known.Load() || p.Anonymous() {
		return nil
	}
	account := x.budgets.Open(p)
	mine := holder{client: p.Client()}
	x.mu.Lock()
	defer x.mu.Unlock()
	for {
		err := account.Take(budget.Connections, 1)
		if err == nil {
			break
		}
		of := x.of[mine]
		if of == nil || of.idle == 0 {
			account.Close()
			return err
		}
		idle := of.first(func(c *conn) bool { return c.idle })
		x.mu.Unlock()
		idle.Close()
		x.mu.Lock()
	}
	if c.at == nil || c.known.Load() { // it has ended, or another request of it was first
		account.Give(budget.Connections, 1)
		account.Close()
		return nil
	}
	x.removeLocked(c)
	c.known.Store(true)
	c.holder, c.account = mine, account
	x.addLocked(c)
	return nil
}

// noteState is http.Server.ConnState.
func noteState(nc net.Conn, state http.ConnState) {
	if c := connOf(nc); c != nil && state != http.StateClosed {
		c.x.setIdle(c, state == http.StateNew || state == http.StateIdle)
	}
}

func (x *connections) setIdle(c *conn, idle bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if c.at == nil || idle == c.idle {
		return
	}
	of := x.of[c.holder]
	if c.idle = idle; !idle {
		of.idle--
		return
	}
	of.idle++
	of.conns.MoveToBack(c.at)
	x.wake()
}

func (x *connections) wake() {
	select {
	case x.changed <- struct{}{}:
	default:
	}
}

// Close implements net.Conn.
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.closing.Do(func() {
		x := c.x
		x.mu.Lock()
		if c.at != nil {
			x.removeLocked(c)
		}
		account := c.account
		x.mu.Unlock()
		if account != nil {
			account.Give(budget.Connections, 1)
			account.Close()
		}
		x.wake()
	})
	return err
}

// connOf returns the accepted connection in one of net/http's; nil: there is none.
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

// claimConn has the connection of a request be its client's. See [connections.claim].
func claimConn(r *http.Request, p principal.Principal) error {
	if c, _ := r.Context().Value(connKey{}).(*conn); c != nil {
		return c.x.claim(c, p)
	}
	return nil
}
