package guard

import (
	"crypto/tls"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
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

// Server returns an http.Server for h, which is behind [Guard.Protect] and [Guard.Open], with the
// limits of a server for untrusted clients. It has to serve a listener of [Guard.Listen]. If there
// are too many connections, it closes one: where credentials are required, one that has shown no
// valid credential, and an idle one otherwise. With a certificate it has a TLSConfig, for ServeTLS.
// errorLog gets errors of connections.
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

// closeAfterChunks returns next, with the connection closed after the response to a chunked
// request. A request may have a Content-Length besides its chunks: a proxy in front that goes by
// the length takes for its body what toolman would read as the next request. RFC 9112, section 6.1,
// requires to close the connection then. net/http has removed the Content-Length before, so all
// chunked requests count. HTTP/2 has none.
func closeAfterChunks(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TransferEncoding) > 0 {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// limitBody makes reading the body fail if it has more than max bytes or takes longer than
// bodyTime. net/http removes the deadline at the end of the body. A request without a body must
// have none: the server reads already, to notice when the client disconnects, and the deadline
// would look like that.
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
		why := refusal{status: http.StatusBadRequest, message: "the path must not contain %, \\, //, . and .."}
		why.write(w, r, RPCError)
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

// A Certificate names the PEM files of a certificate chain and its key. The zero value is none.
type Certificate struct{ Cert, Key string }

// certCheck is the interval in which the files are read again.
const certCheck = 5 * time.Second

// config returns a TLS configuration with the certificate. It follows changes of the files.
func (c Certificate) config(warn func(string, error)) (*tls.Config, error) {
	k := &loadedCert{Certificate: c, warn: warn}
	var err error
	if k.cert, err = k.read(); err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		return k.latest(time.Now()), nil
	}}, nil
}

func (c Certificate) read() (*tls.Certificate, error) {
	cert, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate %s with the key %s: %w", c.Cert, c.Key, err)
	}
	return &cert, nil
}

// A loadedCert is a certificate that has been read.
type loadedCert struct {
	Certificate
	warn func(string, error)

	// guarded by mu
	mu      sync.Mutex
	cert    *tls.Certificate
	failed  bool // to read the files the last time
	checked time.Time
}

// latest returns the current certificate. If it cannot be read, that is the previous one.
func (k *loadedCert) latest(now time.Time) *tls.Certificate {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now.Sub(k.checked) < certCheck {
		return k.cert
	}
	k.checked = now
	cert, err := k.read()
	if err == nil {
		k.cert = cert
	} else if !k.failed {
		k.warn("the certificate has changed and cannot be read; the previous one is used", err)
	}
	k.failed = err != nil
	return k.cert
}
