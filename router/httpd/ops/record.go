package ops

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"
)

// A Request is what became of a request. It is complete when it is handed on.
type Request struct {
	ID        string // tells requests apart: the client's X-Request-Id if it is a plain one, else ours
	Method    string // as the client sent it
	Path      string // without the query
	Session   string // a hash of its MCP session's id, "" without one: the id itself opens the session
	UserAgent string // as the client sent it
	Status    int
	In, Out   int64         // bytes of body
	Took      time.Duration // to the end of the answer, which of a stream is its end

	principal, correlation atomic.Pointer[string]
	outlive                func() func(int64) // see Outlive; nil: the answer ends with its handler, or outlives it already
}

// Correlation is what Correlate said that the request is called, "" if it did not.
func (r *Request) Correlation() string {
	if id := r.correlation.Load(); id != nil {
		return *id
	}
	return ""
}

// Principal is who Identify said that the client is, "" if it did not.
func (r *Request) Principal() string {
	if p := r.principal.Load(); p != nil {
		return *p
	}
	return ""
}

type requestKey struct{}

// Identify notes who the client of a request that is being recorded is. It must
// be no secret.
func Identify(ctx context.Context, principal string) {
	if r, ok := ctx.Value(requestKey{}).(*Request); ok {
		r.principal.Store(&principal)
	}
}

// Outlive says that the answer to a request that is being recorded goes on after its
// handler has returned, on the connection that the handler has taken over. done is to be
// called once, when it has ended, with how many bytes were written there.
func Outlive(ctx context.Context) (done func(bytes int64)) {
	r, ok := ctx.Value(requestKey{}).(*Request)
	if !ok || r.outlive == nil {
		return func(int64) {}
	}
	return r.outlive()
}

// Correlate notes what a request that is being recorded is called by whoever makes it.
func Correlate(ctx context.Context, id string) {
	if r, ok := ctx.Value(requestKey{}).(*Request); ok {
		r.correlation.Store(&id)
	}
}

// RequestID is the ID of the request that is being recorded, "" if none is.
func RequestID(ctx context.Context) string {
	if r, ok := ctx.Value(requestKey{}).(*Request); ok {
		return r.ID
	}
	return ""
}

// Record serves requests by next and hands on what became of each, on the goroutine
// that served it. The answer carries the ID as X-Request-Id.
func Record(next http.Handler, seen ...func(*Request)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		rec := &Request{ID: requestID(r), Method: r.Method, Path: r.URL.Path, UserAgent: r.UserAgent()}
		out := &recorder{ResponseWriter: w}
		body := &countedBody{ReadCloser: r.Body}
		r = r.WithContext(context.WithValue(r.Context(), requestKey{}, rec))
		r.Body = body
		w.Header().Set("X-Request-Id", rec.ID)
		over := func(aborted bool) {
			rec.Status, rec.Out, rec.In, rec.Session = out.outcome(aborted), out.n, body.n.Load(), sessionOf(r, w)
		}
		tell := func() {
			rec.Took = time.Since(began)
			for _, f := range seen {
				f(rec)
			}
		}
		outlived := false
		rec.outlive = func() func(int64) {
			over(false) // now, so that nothing of the request is kept
			rec.outlive, outlived = nil, true
			return func(n int64) { rec.Out += n; tell() }
		}
		aborted := true
		defer func() {
			if !outlived {
				over(aborted)
				tell()
			}
		}()
		next.ServeHTTP(out, r)
		aborted = false
	})
}

// requestID takes the client's own word when that is short and plain.
func requestID(r *http.Request) string {
	id := r.Header.Get("X-Request-Id")
	if len(id) > 0 && len(id) <= 64 && plain(id) {
		return id
	}
	var random [8]byte // no secret
	binary.BigEndian.PutUint64(random[:], rand.Uint64())
	return hex.EncodeToString(random[:])
}

func plain(id string) bool {
	for _, c := range []byte(id) {
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '-', c == '_', c == '.':
		default:
			return false
		}
	}
	return true
}

// sessionOf is a hash of the id of the session that a request belongs to or has begun.
func sessionOf(r *http.Request, w http.ResponseWriter) string {
	const header = "Mcp-Session-Id"
	id := r.Header.Get(header)
	if id == "" {
		id = w.Header().Get(header)
	}
	if id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:6])
}

// A recorder counts what is answered.
type recorder struct {
	http.ResponseWriter
	status int
	n      int64
}

// WriteHeader implements http.ResponseWriter.
func (o *recorder) WriteHeader(status int) {
	if o.status == 0 && status >= 200 { // others come before the answer
		o.status = status
	}
	o.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (o *recorder) Write(b []byte) (int, error) {
	if o.status == 0 {
		o.status = http.StatusOK
	}
	n, err := o.ResponseWriter.Write(b)
	o.n += int64(n)
	return n, err
}

// Unwrap gives http.ResponseController what it needs to flush streams.
func (o *recorder) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// Flush implements http.Flusher.
func (o *recorder) Flush() { http.NewResponseController(o.ResponseWriter).Flush() }

// outcome is the status of the answer. A handler that panicked before it had written
// has broken the connection.
func (o *recorder) outcome(aborted bool) int {
	switch {
	case o.status != 0:
		return o.status
	case aborted:
		return http.StatusInternalServerError
	}
	return http.StatusOK
}

// A countedBody counts what is read. The server may go on reading when the handler is
// done.
type countedBody struct {
	io.ReadCloser
	n atomic.Int64
}

// Read implements io.Reader.
func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.n.Add(int64(n))
	return n, err
}
