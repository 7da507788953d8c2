package guard

import (
	"log"
	"net/http"
	"time"
)

// The bounds of a connection. None of them touches a stream: the answer to a request may take for ever.
const (
	headerTime  = 10 * time.Second // for a request's header
	idleTime    = 2 * time.Minute  // between requests
	headerBytes = 32 << 10
	pingTime    = 30 * time.Second // HTTP/2: silence after which the client is asked whether it is there
)

// Server returns an http.Server for h, which is behind [Guard.Protect] and [Guard.Open], with the bounds of a server
// that strangers can reach. It is to serve a listener of [Guard.Listen]: where that has too many connections, the server
// ends one that has not had a right credential, if one is needed, and otherwise an idle one. With a certificate it has a
// TLSConfig and is to be served by ServeTLS. errorLog gets what goes wrong with connections.
func (g *Guard) Server(h http.Handler, cert Certificate, errorLog *log.Logger) (*http.Server, error) {
	s := &http.Server{
		Handler:           endAfterChunks(h),
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headerBytes,
		ErrorLog:          errorLog,
		ConnContext:       withConn,
		ConnState:         noteState,
		HTTP2:             &http.HTTP2Config{SendPingTimeout: pingTime, PingTimeout: pingTime / 2},

		DisableGeneralOptionsHandler: true, // OPTIONS * is looked at like everything else
	}
	if cert == (Certificate{}) {
		return s, nil
	}
	var err error
	s.TLSConfig, err = cert.config(g.Warn)
	return s, err
}

// endAfterChunks is next, with the connection closed after the answer to a request in chunks.
// A request may have a Content-Length besides its chunks: a proxy in front that goes by the length
// takes for its body what toolman would read as the next request. RFC 9112, section 6.1, wants the
// connection closed then. net/http has removed the Content-Length by now, so all requests in chunks
// count. HTTP/2 has none.
func endAfterChunks(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TransferEncoding) > 0 {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
