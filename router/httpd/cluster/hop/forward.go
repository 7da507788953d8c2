package hop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"toolman/mcpwire/httpbody"
	"toolman/mcpwire/httpheader"
)

const (
	wholeBody  = 1 << 20  // the longest response that is read before it is passed on
	copied     = 32 << 10 // at once, of longer ones and of streams
	maxGet     = 20 << 20 // more than a log of calls
	largeWrite = 64 << 10 // from this size on a write may have to wait for the client
)

// A Result tells what has become of a request.
type Result struct {
	Err error // nil: the whole response was copied, or the request was misdirected
	// Sent: the replica may have read the request.
	Sent bool
	// Refused: nobody listens at the address (connection refused), or someone else does. Err is an
	// ErrRefused then.
	Refused bool
	// Began: part of the response was written.
	Began bool
	// Unwritten: the client does not take the response. It may be gone.
	Unwritten bool
	// Events: it is a stream of events, and ends after one of them, so that another can be
	// appended.
	Events bool
	// Misdirected: the replica does not own the unit, and has done nothing. Nothing was written.
	Misdirected bool
	Owner       string // who does, according to the replica; "" if it does not know
}

// Forward sends a request with this body to the replica head.To at an address, and copies the
// response to w. Events are flushed as they come. The forward ends with ctx, and with the request's
// own context when the client disconnects. The body is not used after Forward has returned.
func (c *Client) Forward(ctx context.Context, w http.ResponseWriter, r *http.Request, body []byte, address string, head Head) Result {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(r.Context(), func() { cancel(context.Cause(r.Context())) })()

	room := 4 << 10
	if len(body) <= maxAtOnce {
		room += len(body)
	}
	buf := buffers.Get(room)
	request, err := appendHead(buf, r.Method, r.URL.RequestURI(), r.Host, r.Header, len(body), head)
	if err != nil {
		return Result{Err: err}
	}
	x, sent, err := c.begin(ctx, address, r.Method, request, body)
	buffers.Put(request)
	if err != nil {
		return Result{Err: err, Sent: sent, Refused: errors.Is(err, ErrRefused)}
	}
	if x.resp.StatusCode == http.StatusMisdirectedRequest {
		return x.misdirected()
	}
	f := forward{exchange: x, ResponseController: http.NewResponseController(w), w: w}
	f.Err = f.copy()
	if f.Err != nil && ctx.Err() != nil {
		f.Err = context.Cause(ctx)
	}
	f.Sent = true
	return f.Result
}

// misdirected returns the result of a response 421.
func (x *exchange) misdirected() Result {
	_, err := io.Copy(io.Discard, io.LimitReader(x.resp.Body, copied))
	x.end(err == nil && x.resp.ContentLength >= 0 && x.resp.ContentLength < copied)
	if is := x.resp.Header.Get(headerReplica); is != "" {
		return Result{Err: fmt.Errorf("%w: replica %s is", ErrRefused, is), Refused: true}
	}
	return Result{Sent: true, Misdirected: true, Owner: x.resp.Header.Get(HeaderOwner)}
}

// A forward copies a response.
type forward struct {
	*exchange
	*http.ResponseController
	w http.ResponseWriter
	Result
	last [4]byte // that were written
}

// copy copies the response, and ends the exchange.
func (f *forward) copy() error {
	if n := f.resp.ContentLength; n >= 0 && n <= wholeBody {
		return f.copyWhole(n)
	}
	f.header()
	err := f.copyStream()
	f.end(err == nil)
	return err
}

// header writes the header of the response.
func (f *forward) header() {
	h := f.w.Header()
	named := f.resp.Header["Connection"]
	for name, values := range f.resp.Header {
		if !passes(name, named) || name == headerID && h[headerID] != nil {
			continue
		}
		h[name] = values
	}
	if length := f.resp.Header["Content-Length"]; f.resp.ContentLength >= 0 && length != nil {
		h["Content-Length"] = length[:1]
	}
	f.Began = true
	f.w.WriteHeader(f.resp.StatusCode)
}

// copyWhole copies a response of this size. It writes nothing before it has read all.
func (f *forward) copyWhole(size int64) error {
	text, err := buffers.Read(f.resp.Body, size)
	defer buffers.Put(text)
	f.end(err == nil)
	if err != nil {
		return err
	}
	f.header()
	err = f.write(text)
	f.Unwritten = err != nil
	return err
}

// copyStream copies a response as it comes.
func (f *forward) copyStream() error {
	f.Events = httpheader.MediaType(f.resp.Header) == httpheader.EventStream
	unsized := f.resp.ContentLength < 0
	if unsized && f.in.Buffered() == 0 {
		if err := f.Flush(); err != nil {
			f.Unwritten = true
			return err
		}
	}
	for {
		if unsized && f.in.Buffered() == 0 {
			f.in.Peek(1) // waits without a buffer; Read returns the error
		}
		buf := buffers.Get(copied)
		n, err := f.resp.Body.Read(buf[:cap(buf)])
		failed := f.pass(buf[:n], unsized)
		buffers.Put(buf)
		switch {
		case failed != nil:
			f.Unwritten = true
			return failed
		case err == io.EOF:
			return nil
		case err != nil:
			f.cut()
			return err
		}
	}
}

// pass writes part of a stream.
func (f *forward) pass(text []byte, flush bool) error {
	if len(text) == 0 {
		return nil
	}
	keep := text[max(0, len(text)-len(f.last)):]
	copy(f.last[:], f.last[len(keep):])
	copy(f.last[len(f.last)-len(keep):], keep)
	f.SetWriteDeadline(httpbody.WriteDeadline(len(text)))
	defer f.SetWriteDeadline(time.Time{}) // it would apply to the connection's next request, too
	if _, err := f.w.Write(text); err != nil || !flush {
		return err
	}
	return f.Flush()
}

// cut ends an event that has come in part, so that clients ignore it: it gets a name that they do
// not know.
func (f *forward) cut() {
	last := f.last[:]
	if !f.Events || f.last == [4]byte{} || bytes.HasSuffix(last, []byte("\n\n")) || bytes.HasSuffix(last, []byte("\n\r\n")) {
		return
	}
	end := []byte("\nevent: incomplete\n\n")
	if last[len(last)-1] == '\n' {
		end = end[1:] // a blank line would end the event under its own name
	}
	f.pass(end, true)
}

// write writes a whole response.
func (f *forward) write(text []byte) error {
	if len(text) >= largeWrite {
		f.SetWriteDeadline(httpbody.WriteDeadline(len(text)))
		defer f.SetWriteDeadline(time.Time{})
	}
	if len(text) == 0 {
		return nil // net/http refuses to write what has no body
	}
	_, err := f.w.Write(text)
	if err == nil && len(text) >= largeWrite {
		err = f.Flush()
	}
	return err
}

// Get makes a small request to the replica head.To at an address.
func (c *Client) Get(ctx context.Context, address, path string, head Head) (status int, body []byte, err error) {
	request, err := appendHead(nil, http.MethodGet, path, address, nil, 0, head)
	if err != nil {
		return 0, nil, err
	}
	x, _, err := c.begin(ctx, address, http.MethodGet, request, nil)
	if err != nil {
		return 0, nil, err
	}
	if x.resp.Header.Get(headerReplica) != "" && x.resp.StatusCode == http.StatusMisdirectedRequest {
		return 0, nil, x.misdirected().Err
	}
	body, err = io.ReadAll(io.LimitReader(x.resp.Body, maxGet+1))
	if err == nil && len(body) > maxGet {
		err = fmt.Errorf("the response is longer than %d bytes", maxGet)
	}
	x.end(err == nil)
	if ctx.Err() != nil && err != nil {
		err = context.Cause(ctx)
	}
	return x.resp.StatusCode, body, err
}
