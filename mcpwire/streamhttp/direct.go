package streamhttp

import (
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"toolman/mcpwire/bodies"
	"toolman/mcpwire/httpheader"
)

// A direct sends requests to one server that is reached by plain HTTP/1.1 and through no proxy:
// who makes a request writes it, and reads the response. net/http's Transport has two goroutines
// for each connection, and to hand a small call from one to the next costs more than all else
// that a gateway does for it. What goes another way is left to the Transport.
type direct struct {
	*http.Transport
	host   string      // that it is for, as in URLs; "" for none
	addr   string      // of it, with the port
	bodies bodies.Pool // room for requests

	mu     sync.Mutex
	idle   []*directConn // guarded by mu: the one used last comes last
	sweeps bool          // guarded by mu: sweep will be called
	over   bool          // guarded by mu: none is kept
}

// largestDirect is the longest body of a request that goes directly, in bytes: as much as the
// system takes even if the server reads nothing of it. So the response is read in any case.
const largestDirect = 64 << 10

// newDirect makes the way to a server of a Transport, whose options count.
func newDirect(t *http.Transport, to *url.URL) *direct {
	d := &direct{Transport: t}
	if !canTell || to.Scheme != "http" || !httpheader.Visible(to.Host) || strings.Contains(to.Host, "%") {
		return d
	}
	if t.Proxy != nil {
		if proxy, err := t.Proxy(&http.Request{URL: to}); proxy != nil || err != nil {
			return d
		}
	}
	d.host, d.addr = to.Host, net.JoinHostPort(to.Hostname(), portOf(to))
	return d
}

// RoundTrip implements http.RoundTripper.
func (d *direct) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host != d.host || req.URL.Scheme != "http" || req.ContentLength > largestDirect {
		return d.Transport.RoundTrip(req)
	}
	if err := checkHeader(req.Header); err != nil {
		return nil, err
	}
	c, err := d.take(req.Context())
	if err != nil {
		return nil, err
	}
	if trace := httptrace.ContextClientTrace(req.Context()); trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{Conn: c.Conn})
	}
	return c.exchange(req)
}

// take returns a connection that nobody uses.
func (d *direct) take(ctx context.Context) (*directConn, error) {
	for c := d.last(); c != nil; c = d.last() {
		if c.silent() {
			return c, nil
		}
		c.Close()
	}
	c, err := d.DialContext(ctx, "tcp", d.addr)
	if err != nil {
		return nil, err
	}
	return newDirectConn(c, d), nil
}

// last returns the idle connection that was used last, which is not idle any more.
func (d *direct) last() *directConn {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.idle) - 1
	if n < 0 {
		return nil
	}
	c := d.idle[n]
	d.idle[n] = nil
	d.idle = d.idle[:n]
	return c
}

// keep has a connection for the next request.
func (d *direct) keep(c *directConn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over || len(d.idle) >= maxIdle {
		c.Close()
		return
	}
	c.since = time.Now()
	d.idle = append(d.idle, c)
	d.sweepLaterLocked()
}

// sweepLaterLocked sees that connections which stay idle are closed.
func (d *direct) sweepLaterLocked() {
	if !d.sweeps && len(d.idle) > 0 {
		d.sweeps = true
		time.AfterFunc(idleTime/2, d.sweep)
	}
}

// sweep closes connections that nobody has used for long, or that the server has closed.
func (d *direct) sweep() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.idle = slices.DeleteFunc(d.idle, func(c *directConn) bool {
		useless := time.Since(c.since) >= idleTime || !c.silent()
		if useless {
			c.Close()
		}
		return useless
	})
	d.sweeps = false
	d.sweepLaterLocked()
}

// CloseIdleConnections closes the connections that nobody uses, and later those that somebody
// uses now.
func (d *direct) CloseIdleConnections() {
	d.Transport.CloseIdleConnections()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.over = true
	for _, c := range d.idle {
		c.Close()
	}
	d.idle = nil
}
