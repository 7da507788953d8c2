package hop

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"toolman/mcpwire/system"
)

const (
	dialTime      = 500 * time.Millisecond
	handshakeTime = time.Second
	maxIdle       = 128       // connections to one replica
	maxHeader     = 256 << 10 // of a response, in bytes
	readBuffer    = 1 << 10   // small, because streams keep it; longer bodies are not read through it
)

// ErrRefused is in the errors of requests that have not reached their replica because nobody
// listens at its address, or another process does.
var ErrRefused = errors.New("the replica is not at its address")

// A Client sends requests to other replicas, and keeps connections to them.
type Client struct {
	dialer    net.Dialer
	handshake time.Duration // how long it may take
	config    *tls.Config
	pool      pool
}

// NewClient returns a client with these keys.
func NewClient(i *Identity) *Client {
	keepAlive := net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3}
	return &Client{dialer: net.Dialer{Timeout: dialTime, KeepAliveConfig: keepAlive}, handshake: handshakeTime, config: i.Client(), pool: pool{idle: map[string][]*conn{}, dropped: map[string]time.Time{}}}
}

// Close closes the idle connections, and each other one at the end of its request.
func (c *Client) Close() { c.pool.close() }

// Drop closes the idle connections to an address, and each other one at the end of its request. New
// ones are kept.
func (c *Client) Drop(address string) { c.pool.drop(address) }

// A conn is a connection to a replica, for one request after another.
type conn struct {
	net.Conn // of the system
	address  string
	tls      *tls.Conn
	limit    io.LimitedReader // of the header of a response
	in       *bufio.Reader
	written  atomic.Int64 // bytes of the request, encrypted, that the system has taken

	made      time.Time
	idleSince time.Time
}

// Write implements io.Writer for tls.
func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.written.Add(int64(n))
	return n, err
}

// connect returns an idle connection, or a new one.
func (c *Client) connect(ctx context.Context, address string) (*conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if idle := c.pool.take(address); idle != nil {
		return idle, nil
	}
	raw, err := c.dialer.DialContext(ctx, "tcp", address)
	if system.Refused(err) {
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	} else if err != nil {
		return nil, err
	}
	made := &conn{Conn: raw, address: address, made: time.Now()}
	made.tls = tls.Client(made, c.config)
	limited, cancel := context.WithTimeout(ctx, c.handshake)
	defer cancel()
	done := make(chan error)
	go func() { done <- made.tls.HandshakeContext(limited) }() // streams do not keep its deep stack
	if err := <-done; err != nil {
		raw.Close()
		return nil, handshakeError(limited, err)
	}
	made.limit.R = made.tls
	made.in = bufio.NewReaderSize(&made.limit, readBuffer)
	return made, nil
}

// handshakeError tells a peer that has no key of the cluster, or does not even speak TLS, from one
// that does not answer or breaks off.
func handshakeError(ctx context.Context, err error) error {
	network, ok := errors.AsType[*net.OpError](err)
	broken := ok && (network.Op == "read" || network.Op == "write")
	if broken || ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("TLS handshake: %w", err)
	}
	return fmt.Errorf("%w: TLS handshake: %w", ErrRefused, err)
}

var errLongHeader = errors.New("the header of the response is too long")

// receive reads the header of a response. Informational responses are skipped.
func (c *conn) receive(to *http.Request) (*http.Response, error) {
	c.limit.N = maxHeader
	for {
		resp, err := http.ReadResponse(c.in, to)
		switch {
		case err != nil && c.limit.N <= 0:
			return nil, errLongHeader
		case err != nil:
			return nil, err
		case resp.StatusCode == http.StatusSwitchingProtocols:
			return nil, errors.New("the response switches to another protocol")
		case resp.StatusCode/100 != 1:
			c.limit.N = math.MaxInt64
			return resp, nil
		}
	}
}

// A pool keeps idle connections.
type pool struct {
	mu       sync.Mutex
	idle     map[string][]*conn // guarded by mu: by address; the one used last comes last
	sweeping bool               // guarded by mu: sweep will be called
	closed   bool               // guarded by mu

	dropped map[string]time.Time // guarded by mu: by address, for a while; connections of before are not kept
}

// take returns a connection that is open, or nil.
func (p *pool) take(address string) *conn {
	for {
		c := p.last(address)
		if c == nil || c.alive() {
			return c
		}
		c.Close()
	}
}

// last removes the connection to an address that was used last; nil if there is none.
func (p *pool) last(address string) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	conns := p.idle[address]
	n := len(conns) - 1
	if n < 0 {
		return nil
	}
	c := conns[n]
	p.idle[address] = slices.Delete(conns, n, n+1)
	return c
}

// put keeps a connection for the next request.
func (p *pool) put(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || c.made.Before(p.dropped[c.address]) || len(p.idle[c.address]) >= maxIdle {
		c.Close()
		return
	}
	c.idleSince = time.Now()
	p.idle[c.address] = append(p.idle[c.address], c)
	p.sweepLaterLocked()
}

func (p *pool) sweepLaterLocked() {
	if !p.sweeping && len(p.idle)+len(p.dropped) > 0 {
		p.sweeping = true
		time.AfterFunc(clientIdle/4, p.sweep)
	}
}

// sweep closes connections that have been idle for long, or that the peer has closed.
func (p *pool) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for address, conns := range p.idle {
		conns = slices.DeleteFunc(conns, func(c *conn) bool {
			useless := time.Since(c.idleSince) >= clientIdle || !c.alive()
			if useless {
				c.Close()
			}
			return useless
		})
		p.idle[address] = conns
		if len(conns) == 0 {
			delete(p.idle, address)
		}
	}
	maps.DeleteFunc(p.dropped, func(_ string, at time.Time) bool { return time.Since(at) >= clientIdle })
	p.sweeping = false
	p.sweepLaterLocked()
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for address := range p.idle {
		p.dropLocked(address)
	}
}

// drop closes the connections to an address, each that is not idle at the end of its request.
func (p *pool) drop(address string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropped[address] = time.Now()
	p.dropLocked(address)
	p.sweepLaterLocked()
}

func (p *pool) dropLocked(address string) {
	for _, c := range p.idle[address] {
		c.Close()
	}
	delete(p.idle, address)
}

// alive reports whether an idle connection is open. The peer has nothing to say on it: what there
// is to read is the end of the connection, or of its TLS.
func (c *conn) alive() bool {
	tcp, ok := c.Conn.(syscall.Conn)
	return ok && system.Quiet(tcp)
}
