package hop

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"toolman/mcpwire/httpbody"
)

// maxAtOnce is the size of the longest body that is written before the response is read. The system
// takes that much even if the peer does not read. A peer may answer before it has read a longer
// one.
const maxAtOnce = 64 << 10

const (
	lastWords = time.Second           // how long a peer that does not read on may take to say why
	written   = 10 * time.Millisecond // how long the end of a body may take after its response
)

// buffers hold requests, and parts of responses.
var buffers httpbody.Pool

// An exchange is a request on a connection, and its response.
type exchange struct {
	*conn
	c       *Client
	resp    *http.Response
	stop    func() bool // detaches the connection from its context
	writing chan error  // receives when a long body is written; nil for a short one
}

// begin sends a request, and returns when the header of the response has come. sent tells whether
// the peer may have read part of the request. The request ends with ctx.
func (c *Client) begin(ctx context.Context, address, method string, head, body []byte) (x *exchange, sent bool, err error) {
	conn, err := c.connect(ctx, address)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, false, err
	}
	conn.written.Store(0)
	x = &exchange{conn: conn, c: c}
	x.stop = context.AfterFunc(ctx, func() { conn.Close() })
	if err = x.send(head, body); err == nil {
		x.resp, err = x.receive(&http.Request{Method: method})
	}
	if err == nil {
		return x, true, nil
	}
	cancelled := !x.stop()
	x.abort()
	if cancelled {
		err = context.Cause(ctx)
	}
	return nil, conn.written.Load() > 0, err
}

// send writes a request. It writes a long body on a goroutine.
func (x *exchange) send(head, body []byte) error {
	if len(body) <= maxAtOnce {
		_, err := x.tls.Write(append(head, body...))
		return err
	}
	x.writing = make(chan error, 1)
	go func() {
		_, err := x.tls.Write(head)
		if err == nil {
			_, err = x.tls.Write(body)
		}
		if err != nil {
			x.SetReadDeadline(time.Now().Add(lastWords))
		}
		x.writing <- err
	}()
	return nil
}

// abort closes the connection. Nothing uses the request's body any more.
func (x *exchange) abort() {
	x.Close()
	if x.writing != nil {
		<-x.writing
		x.writing = nil
	}
}

// end ends an exchange. whole means that the response was read to its end.
func (x *exchange) end(whole bool) {
	whole = x.stop() && whole && !x.resp.Close && x.in.Buffered() == 0
	if whole && x.writing != nil {
		select {
		case err := <-x.writing:
			whole, x.writing = err == nil, nil
		case <-time.After(written): // the peer has answered before it has read all
			whole = false
		}
	}
	if !whole {
		x.abort()
		return
	}
	x.c.pool.put(x.conn)
}

// appendHead appends the header of a request. from has the client's headers.
func appendHead(dst []byte, method, uri, host string, from http.Header, length int, head Head) ([]byte, error) {
	if strings.ContainsFunc(method+uri+host, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return nil, errors.New("the method, path or host of the request has spaces or control characters")
	}
	value, err := head.encode()
	if err != nil {
		return nil, err
	}
	dst = appendAll(dst, method, " ", uri, " HTTP/1.1\r\nHost: ", host, "\r\n"+headerHead+": ", value)
	if head.RequestID != "" {
		from := strings.Map(visible, head.RequestID)
		dst = appendAll(dst, "\r\n"+headerID+": ", from)
	}
	named := from["Connection"]
	for name, values := range from {
		if isPrivate(name) || !passes(name, named) {
			continue
		}
		for _, value := range values {
			if strings.ContainsAny(name, "\r\n: ") || strings.ContainsAny(value, "\r\n\x00") {
				return nil, fmt.Errorf("the header %q has a line break", name)
			}
			dst = appendAll(dst, "\r\n", name, ": ", value)
		}
	}
	if length > 0 || method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch {
		dst = strconv.AppendInt(appendAll(dst, "\r\nContent-Length: "), int64(length), 10)
	}
	return append(dst, "\r\n\r\n"...), nil
}

func appendAll(dst []byte, texts ...string) []byte {
	for _, text := range texts {
		dst = append(dst, text...)
	}
	return dst
}

// visible maps what a header must not have to nothing.
func visible(c rune) rune {
	if c <= ' ' || c > '~' {
		return -1
	}
	return c
}
