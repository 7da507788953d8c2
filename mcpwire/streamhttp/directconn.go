package streamhttp

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strconv"
	"time"
)

// A directConn is a connection for one request after the other.
type directConn struct {
	net.Conn
	of    *direct
	in    *bufio.Reader
	left  int       // bytes that may come until the header of the response has ended
	since time.Time // it is idle
}

func newDirectConn(c net.Conn, of *direct) *directConn {
	d := &directConn{Conn: c, of: of}
	d.in = bufio.NewReaderSize(bounded{d}, ioBuffer)
	return d
}

// bounded is what comes on a connection, as far as it may.
type bounded struct{ c *directConn }

var errLongHeader = errors.New("the header of the server's response is too long")

// Read implements io.Reader.
func (b bounded) Read(p []byte) (int, error) {
	if b.c.left <= 0 {
		return 0, errLongHeader
	}
	n, err := b.c.Conn.Read(p[:min(len(p), b.c.left)])
	b.c.left -= n
	return n, err
}

// exchange makes a request, and returns when the header of its response is there.
func (c *directConn) exchange(req *http.Request) (resp *http.Response, err error) {
	stop := context.AfterFunc(req.Context(), func() { c.Close() })
	if err = c.send(req); err == nil {
		resp, err = c.receive(req)
	}
	if err != nil {
		c.Close()
		if !stop() {
			err = context.Cause(req.Context())
		}
		return nil, err
	}
	body := &directBody{c: c, body: resp.Body, stop: stop, last: resp.Close}
	if resp.Body == http.NoBody {
		body.end(true)
	}
	resp.Body = body
	return resp, nil
}

// send writes a request.
func (c *directConn) send(req *http.Request) error {
	const header = 1 << 10 // mostly
	n := int(req.ContentLength)
	text := c.of.bodies.Get(header + n)
	defer func() { c.of.bodies.Put(text) }()
	text = appendHeader(text, req)
	if req.Body != nil {
		defer req.Body.Close()
		text = slices.Grow(text, n)[:len(text)+n]
		if _, err := io.ReadFull(req.Body, text[len(text)-n:]); err != nil {
			return err
		}
	}
	_, err := c.Write(text)
	if trace := httptrace.ContextClientTrace(req.Context()); trace != nil && trace.WroteRequest != nil {
		trace.WroteRequest(httptrace.WroteRequestInfo{Err: err})
	}
	return err
}

// appendHeader appends a request without its body. Its header has been checked, and says
// nothing of the body or the host (commonHeader).
func appendHeader(text []byte, req *http.Request) []byte {
	text = append(append(append(text, req.Method...), ' '), req.URL.RequestURI()...)
	text = appendLine(append(text, " HTTP/1.1\r\n"...), "Host", req.Host)
	if req.Header.Get("User-Agent") == "" {
		text = appendLine(text, "User-Agent", "Go-http-client/1.1") // as net/http: some servers want one
	}
	for name, values := range req.Header {
		for _, value := range values {
			text = appendLine(text, name, value)
		}
	}
	if req.Body != nil {
		text = appendLine(text, "Content-Length", strconv.FormatInt(req.ContentLength, 10))
	}
	return append(text, "\r\n"...)
}

func appendLine(text []byte, name, value string) []byte {
	return append(append(append(append(text, name...), ": "...), value...), "\r\n"...)
}

// receive reads the header of a response. Those that announce one are passed over.
func (c *directConn) receive(req *http.Request) (*http.Response, error) {
	c.left = maxHeader
	for {
		resp, err := http.ReadResponse(c.in, req)
		if err != nil {
			return nil, err
		}
		switched := resp.StatusCode == http.StatusSwitchingProtocols
		if resp.StatusCode/100 != 1 || switched {
			c.left = math.MaxInt
			resp.Close = resp.Close || switched // to what nobody has asked for
			return resp, nil
		}
	}
}

// A directBody is the body of a response. At its end the connection is there for the next request.
type directBody struct {
	c    *directConn // nil: it has ended
	body io.Reader
	stop func() bool // has the end of the request's context close the connection no more
	last bool        // the connection carries no other request
}

// Read implements io.Reader.
func (b *directBody) Read(p []byte) (int, error) {
	if b.c == nil {
		return 0, io.EOF
	}
	n, err := b.body.Read(p)
	if err != nil {
		b.end(err == io.EOF)
	}
	return n, err
}

// Close implements io.Closer. Of a body that has not been read to its end, nothing is read.
func (b *directBody) Close() error {
	if b.c != nil {
		b.end(false)
	}
	return nil
}

func (b *directBody) end(whole bool) {
	c := b.c
	b.c = nil
	if b.stop() && whole && !b.last && c.in.Buffered() == 0 {
		c.of.keep(c)
		return
	}
	c.Close()
}
