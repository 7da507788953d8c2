package httpclient

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

const (
	dialTime    = 10 * time.Second
	keepAlive   = 15 * time.Second // between probes of a silent connection
	pingTimeout = 15 * time.Second
	idleTime    = 90 * time.Second // how long an idle connection is kept
	maxIdle     = 512              // with fewer, most of many concurrent calls would each open a connection
	maxHeader   = 64 << 10         // bytes of a response's header
	ioBuffer    = 16 << 10         // of a connection, for each direction: most messages go in one piece
	maxCAFile   = 4 << 20
)

// New returns a client. It trusts the certificates in caFile, a file in PEM form, in addition to the
// system's. caFile may be "".
func New(caFile string) (*http.Client, error) {
	t, err := NewTransport(caFile)
	if err != nil {
		return nil, err
	}
	return &http.Client{Transport: t, CheckRedirect: CheckRedirect}, nil
}

// NewTransport returns the transport of a client that New would return. It limits everything except
// the length of streams.
func NewTransport(caFile string) (*http.Transport, error) {
	dialer := &net.Dialer{Timeout: dialTime, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: keepAlive, Interval: keepAlive, Count: 4}}
	t := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    dialTime,
		IdleConnTimeout:        idleTime,
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    maxIdle,
		MaxResponseHeaderBytes: maxHeader,
		WriteBufferSize:        ioBuffer,
		ReadBufferSize:         ioBuffer,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: 2 * keepAlive, PingTimeout: pingTimeout},
	}
	if caFile != "" {
		pool, err := withCertificates(caFile)
		if err != nil {
			return nil, fmt.Errorf("the certificates in ca_file: %w", err)
		}
		t.TLSClientConfig.RootCAs = pool
	}
	return t, nil
}

// withCertificates returns the system's authorities and those in a file.
func withCertificates(path string) (*x509.CertPool, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxCAFile {
		return nil, fmt.Errorf("%s is not a regular file of at most %d bytes", path, maxCAFile)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s contains no certificate in PEM form", path)
	}
	return pool, nil
}
