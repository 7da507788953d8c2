package h1

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"syscall"
	"time"

	"toolman/mcpwire/system"
)

// A conn is a connection for one request after another.
type conn struct {
	net.Conn
	t         *Transport
	limit     io.LimitedReader // limits the size of a response's header
	in        *bufio.Reader
	out       *bufio.Writer
	idleSince time.Time
}

func newConn(nc net.Conn, t *Transport) *conn {
	c := &conn{Conn: nc, t: t, limit: io.LimitedReader{R: nc}}
	c.in = bufio.NewReaderSize(&c.limit, t.ReadBufferSize)
	c.out = bufio.NewWriterSize(nc, t.WriteBufferSize)
	return c
}

// exchange sends a request, and returns when the header of its response has come.
func (c *conn) exchange(req *http.Request) (*http.Response, error) {
	stop := context.AfterFunc(req.Context(), func() { c.Close() })
	var resp *http.Response
	err := c.send(req)
	if err == nil {
		resp, err = c.receive(req)
	}
	if err != nil {
		c.Close()
		if !stop() {
			err = context.Cause(req.Context())
		}
		return nil, err
	}
	b := &body{c: c, body: resp.Body, stop: stop, last: resp.Close}
	if resp.Body == http.NoBody {
		b.end(true)
	}
	resp.Body = b
	return resp, nil
}

// send writes a request. Request.Write would take 5 % more processor time for a small call
// (fixtures/bench, http100 and http64 on one processor).
func (c *conn) send(req *http.Request) (err error) {
	if trace := httptrace.ContextClientTrace(req.Context()); trace != nil && trace.WroteRequest != nil {
		defer func() { trace.WroteRequest(httptrace.WroteRequestInfo{Err: err}) }()
	}
	if err = c.writeHeader(req); err == nil && req.Body != nil {
		_, err = io.CopyN(c.out, req.Body, req.ContentLength)
	}
	if err != nil {
		return err
	}
	return c.out.Flush()
}

func (c *conn) writeHeader(req *http.Request) error {
	c.writeAll(req.Method, " ", req.URL.RequestURI(), " HTTP/1.1\r\nHost: ", req.Host)
	if req.Header.Get("User-Agent") == "" {
		c.writeAll("\r\nUser-Agent: Go-http-client/1.1") // like net/http, because some servers require one
	}
	for name, values := range req.Header {
		for _, value := range values {
			if strings.ContainsAny(name, "\r\n:") || strings.ContainsAny(value, "\r\n") {
				return errors.New("a header contains a line break")
			}
			c.writeAll("\r\n", name, ": ", value)
		}
	}
	if req.Body != nil {
		c.writeAll("\r\nContent-Length: ", strconv.FormatInt(req.ContentLength, 10))
	}
	c.writeAll("\r\n\r\n")
	return nil
}

// writeAll buffers texts. An error comes back from Flush.
func (c *conn) writeAll(texts ...string) {
	for _, text := range texts {
		c.out.WriteString(text)
	}
}

var errLongHeader = errors.New("the header of the server's response is too long")

// receive reads the header of a response. Informational responses are skipped.
func (c *conn) receive(req *http.Request) (*http.Response, error) {
	c.limit.N = c.t.MaxResponseHeaderBytes
	for {
		resp, err := http.ReadResponse(c.in, req)
		if err != nil && c.limit.N <= 0 {
			err = errLongHeader
		}
		if err != nil {
			return nil, err
		}
		switched := resp.StatusCode == http.StatusSwitchingProtocols // unasked
		if resp.StatusCode/100 != 1 || switched {
			c.limit.N = math.MaxInt64
			resp.Close = resp.Close || switched
			return resp, nil
		}
	}
}

// A body is the body of a response. At its end the connection becomes idle.
type body struct {
	c    *conn // nil: the body has ended
	body io.Reader
	stop func() bool // detaches the connection from the request's context
	last bool        // the server closes the connection
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if b.c == nil {
		return 0, io.EOF
	}
	n, err := b.body.Read(p)
	if err != nil {
		b.end(err == io.EOF)
	}
	return n, err
}

// Close implements io.Closer. It closes the connection unless the body was read to its end.
func (b *body) Close() error {
	if b.c != nil {
		b.end(false)
	}
	return nil
}

func (b *body) end(whole bool) {
	c := b.c
	b.c = nil
	if b.stop() && whole && !b.last && c.in.Buffered() == 0 {
		c.t.keep(c)
		return
	}
	c.Close()
}

// alive reports whether an idle connection is open and has nothing to read. Unexpected data would
// be mistaken for the response to the next request.
func (c *conn) alive() bool {
	tcp, ok := c.Conn.(syscall.Conn)
	return ok && system.Quiet(tcp)
}
