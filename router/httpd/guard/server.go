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
		Handler:           h,
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
