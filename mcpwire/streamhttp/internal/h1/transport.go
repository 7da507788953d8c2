package h1

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxBody is the size of the longest body of a request, in bytes. The system buffers that much even
// if the server does not read, so that writing does not block and the response is read.
const maxBody = 64 << 10

// A Transport is an http.RoundTripper. It sends requests to one server that is reached by plain
// HTTP and through no proxy; its http.Transport sends all others.
type Transport struct {
	*http.Transport
	host string // of the server, as in URLs; "": http.Transport sends all requests
	addr string

	mu       sync.Mutex
	idle     []*conn // guarded by mu: the one used last comes last
	sweeping bool    // guarded by mu: sweep will be called
	closed   bool    // guarded by mu: no connection is kept
}

// New returns a Transport for a server. It has the options of t.
func New(t *http.Transport, to *url.URL) *Transport {
	d := &Transport{Transport: t}
	ascii := !strings.ContainsFunc(to.Host, func(r rune) bool { return r <= ' ' || r > '~' || r == '%' })
	if to.Scheme != "http" || !ascii {
		return d
	}
	if t.Proxy != nil {
		if proxy, err := t.Proxy(&http.Request{URL: to}); proxy != nil || err != nil {
			return d
		}
	}
	d.host, d.addr = to.Host, net.JoinHostPort(to.Hostname(), cmp.Or(to.Port(), "80"))
	return d
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host != t.host || req.URL.Scheme != "http" || req.ContentLength > maxBody {
		return t.Transport.RoundTrip(req)
	}
	c, err := t.take(req.Context())
	if err != nil {
		return nil, err
	}
	if trace := httptrace.ContextClientTrace(req.Context()); trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{Conn: c.Conn})
	}
	return c.exchange(req)
}

// take returns an idle connection, or a new one.
func (t *Transport) take(ctx context.Context) (*conn, error) {
	for c := t.last(); c != nil; c = t.last() {
		if c.alive() {
			return c, nil
		}
		c.Close()
	}
	c, err := t.DialContext(ctx, "tcp", t.addr)
	if err != nil {
		return nil, err
	}
	return newConn(c, t), nil
}

// last removes the connection used last from the idle ones; nil if there is none.
func (t *Transport) last() *conn {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.idle) - 1
	if n < 0 {
		return nil
	}
	c := t.idle[n]
	t.idle = slices.Delete(t.idle, n, n+1)
	return c
}

// keep keeps a connection for the next request.
func (t *Transport) keep(c *conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || len(t.idle) >= t.MaxIdleConnsPerHost {
		c.Close()
		return
	}
	c.idleSince = time.Now()
	t.idle = append(t.idle, c)
	t.sweepLaterLocked()
}

func (t *Transport) sweepLaterLocked() {
	if !t.sweeping && len(t.idle) > 0 {
		t.sweeping = true
		time.AfterFunc(t.IdleConnTimeout/2, t.sweep)
	}
}

// sweep closes connections that have been idle for long, or that the server has closed.
func (t *Transport) sweep() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.idle = slices.DeleteFunc(t.idle, func(c *conn) bool {
		useless := time.Since(c.idleSince) >= t.IdleConnTimeout || !c.alive()
		if useless {
			c.Close()
		}
		return useless
	})
	t.sweeping = false
	t.sweepLaterLocked()
}

// CloseIdleConnections closes the idle connections, and each other one at the end of its request.
func (t *Transport) CloseIdleConnections() {
	t.Transport.CloseIdleConnections()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for _, c := range t.idle {
		c.Close()
	}
	t.idle = nil
}
