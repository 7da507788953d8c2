package guard

import (
	"log"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
)

// Limits of a connection. Streams are not affected: a response may take forever.
const (
	headerTime  = 10 * time.Second // for the header of a request
	bodyTime    = 30 * time.Second // for its body, however steadily it comes
	idleTime    = 2 * time.Minute  // between requests
	headerBytes = 32 << 10
	pingTime    = 30 * time.Second // HTTP/2: silence after which the client is pinged
)

// Server returns an http.Server for h, which is behind [Guard.Protect] and [Guard.Open], with the limits
// of a server for untrusted clients. It has to serve a listener of [Guard.Listen]: if that has too many
// connections, the server closes one without a valid credential, if one is needed, and an idle one
// otherwise. With a certificate it has a TLSConfig, for ServeTLS. errorLog gets errors of connections.
func (g *Guard) Server(h http.Handler, cert Certificate, errorLog *log.Logger) (*http.Server, error) {
	s := &http.Server{
		Handler:           closeAfterChunks(h),
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headerBytes,
		ErrorLog:          errorLog,
		ConnContext:       withConn,
		ConnState:         noteState,
		HTTP2:             &http.HTTP2Config{SendPingTimeout: pingTime, PingTimeout: pingTime / 2},

		DisableGeneralOptionsHandler: true, // OPTIONS * is checked like all other requests
	}
	if cert == (Certificate{}) {
		return s, nil
	}
	var err error
	s.TLSConfig, err = cert.config(g.Warn)
	return s, err
}

// closeAfterChunks returns next, with the connection closed after the response to a chunked request. A
// request may have a Content-Length besides its chunks: a proxy in front that goes by the length takes
// for its body what toolman would read as the next request. RFC 9112, section 6.1, requires to close the
// connection then. net/http has removed the Content-Length before, so all chunked requests count. HTTP/2
// has none.
func closeAfterChunks(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TransferEncoding) > 0 {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// limitBody makes reading the body fail if it has more than max bytes or takes longer than bodyTime.
// net/http removes the deadline at the end of the body. A request without a body must have none: the
// server reads already, to notice when the client disconnects, and the deadline would look like that.
func limitBody(w http.ResponseWriter, r *http.Request, max int64) {
	if r.ContentLength == 0 {
		return
	}
	http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime)) // fails only without a connection
	r.Body = http.MaxBytesReader(w, r.Body, max)
}

// Plain refuses requests whose path readers could understand in different ways. It goes before an
// http.ServeMux, which would redirect them.
func Plain(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if plainPath(r.URL) {
			next.ServeHTTP(w, r)
			return
		}
		why := refusal{status: http.StatusBadRequest, message: "the path is not written plainly: leave out %, \\, //, . and .."}
		why.write(w, r, rpcError)
	})
}

// plainPath reports whether a path is absolute, and has no escapes, empty elements, . or ..
func plainPath(u *url.URL) bool {
	p := u.EscapedPath()
	if !strings.HasPrefix(p, "/") || strings.ContainsAny(p, `%\`) {
		return false
	}
	return p == path.Clean(p) || p != "/" && p == path.Clean(p)+"/"
}
