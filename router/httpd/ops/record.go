package ops

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"go.uber.org/zap"

	"toolman/mcpwire/sanitize"
)

// A Request describes an HTTP request and its outcome.
type Request struct {
	ID        string // the client's X-Request-Id if that is short and plain, or a new one
	Method    string // as the client sent it
	Path      string // without the query
	Session   string // a hash of its MCP session's ID, "" if there is none: the ID itself gives access
	UserAgent string // as the client sent it
	Status    int
	In, Out   int64         // bytes of body
	Took      time.Duration // to the end of the response, also of a stream

	Principal   string // the name of the client; "" without Identify
	Correlation string // "" without Correlate
	Forwarded   string // to which replica; "": to none

	outlive func() func(int64) // see Outlive; nil after it was called
}

type requestKey struct{}

// recordOf returns the record of a request; one that nothing reads if there is none.
func recordOf(ctx context.Context) *Request {
	if r, ok := ctx.Value(requestKey{}).(*Request); ok {
		return r
	}
	return new(Request)
}

// RequestID returns the ID of a recorded request.
func RequestID(ctx context.Context) string { return recordOf(ctx).ID }

// Identify sets the name of the client of a recorded request. It must not be secret.
func Identify(ctx context.Context, principal string) { recordOf(ctx).Principal = principal }

// Correlate sets the correlation ID of a recorded request.
func Correlate(ctx context.Context, id string) { recordOf(ctx).Correlation = id }

// Forwarded sets the replica to which a recorded request is forwarded.
func Forwarded(ctx context.Context, replica string) { recordOf(ctx).Forwarded = replica }

// Outlive says that the response to a recorded request continues after its handler has returned, on
// the connection that the handler has taken over. done has to be called once at the end of the
// response, with the number of bytes written there.
func Outlive(ctx context.Context) (done func(bytes int64)) {
	if r := recordOf(ctx); r.outlive != nil {
		return r.outlive()
	}
	return func(int64) {}
}

// Record serves requests with next, and calls seen for each at its end, on the goroutine that
// served it. The response has the ID as X-Request-Id.
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
			over(false) // now, so that nothing keeps the request
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

// requestID returns the client's ID if that is short and plain.
func requestID(r *http.Request) string {
	id := r.Header.Get("X-Request-Id")
	special := strings.ContainsFunc(id, func(c rune) bool {
		return c > unicode.MaxASCII || !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("-_.", c)
	})
	if len(id) > 0 && len(id) <= 64 && !special {
		return id
	}
	return fmt.Sprintf("%016x", rand.Uint64()) // no secret
}

// sessionOf returns a hash of the ID of the session that a request belongs to, or has begun.
func sessionOf(r *http.Request, w http.ResponseWriter) string {
	const header = "Mcp-Session-Id"
	id := cmp.Or(r.Header.Get(header), w.Header().Get(header))
	if id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:6])
}

// A recorder counts the bytes of a response.
type recorder struct {
	http.ResponseWriter
	status int
	n      int64
}

// WriteHeader implements http.ResponseWriter.
func (o *recorder) WriteHeader(status int) {
	if o.status == 0 && status >= 200 { // others come before the response
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

// Unwrap is for http.ResponseController.
func (o *recorder) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// Flush implements http.Flusher.
func (o *recorder) Flush() { http.NewResponseController(o.ResponseWriter).Flush() }

// outcome returns the status of the response. A handler that panics before it writes breaks the
// connection.
func (o *recorder) outcome(aborted bool) int {
	switch {
	case o.status != 0:
		return o.status
	case aborted:
		return http.StatusInternalServerError
	}
	return http.StatusOK
}

// A countedBody counts the bytes that are read. The server may continue reading after the handler.
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

// longest is the number of characters of a client's text in the log.
const longest = 200

// AccessLog writes a line for each request. It contains no query, and of the headers only the user
// agent, so it contains no token.
func AccessLog(log *zap.Logger) func(*Request) {
	log = log.Named("http")
	return func(r *Request) {
		ce := log.Check(zap.InfoLevel, "request")
		if ce == nil {
			return
		}
		fields := []zap.Field{zap.String("method", sanitize.Cut(r.Method, longest)), zap.String("path", sanitize.Cut(r.Path, longest)), zap.Int("status", r.Status),
			zap.Int64("bytes", r.Out), zap.Duration("dur", r.Took), zap.String("agent", sanitize.Cut(r.Principal, longest)),
			zap.String("session", r.Session), zap.String("user_agent", sanitize.Cut(r.UserAgent, longest)), zap.String("id", r.ID)}
		if r.Correlation != "" {
			fields = append(fields, zap.String("correlation", sanitize.Cut(r.Correlation, longest)))
		}
		if r.Forwarded != "" {
			fields = append(fields, zap.String("forwarded", r.Forwarded))
		}
		ce.Write(fields...)
	}
}
