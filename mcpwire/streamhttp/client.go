package streamhttp

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"syscall"
	"time"
)

const (
	dialTime      = 10 * time.Second
	keepAlive     = 15 * time.Second // between probes of a connection on which nothing comes
	idleTime      = 90 * time.Second // a connection that nothing uses is kept
	maxHeader     = 64 << 10         // bytes of a response's header
	maxIdle       = defaultParallel  // fewer, and most of many calls at once would open a connection each
	maxCAFile     = 4 << 20
	pingTimeout   = 15 * time.Second
	ioBuffer      = 16 << 10 // of a connection, for each direction: most messages go in one piece
	refusedPublic = "it leads to a private address, which is not allowed for a URL that does not come from the configuration file"
)

var errPrivate = errors.New(refusedPublic)

// NewClient makes an HTTP client with the bounds that the one of a Conn has. caFile is as in
// Options.
func NewClient(caFile string) (*http.Client, error) {
	t, err := newTransport(&Options{CAFile: caFile})
	if err != nil {
		return nil, err
	}
	return &http.Client{Transport: t, CheckRedirect: checkRedirect}, nil
}

// newTransport makes what a client's requests go over. It bounds what has no end by nature,
// and leaves streams alone.
func newTransport(o *Options) (*http.Transport, error) {
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
	if o.PublicOnly {
		t.Proxy, dialer.Control = nil, publicOnly
	}
	if o.CAFile != "" {
		pool, err := withCertificates(o.CAFile)
		if err != nil {
			return nil, err
		}
		t.TLSClientConfig.RootCAs = pool
	}
	return t, nil
}

// withCertificates returns the system's authorities and those in a file.
func withCertificates(path string) (*x509.CertPool, error) {
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxCAFile) {
		err = errors.New("it is no regular file, or too large for one of certificates")
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("the certificates in ca_file: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("the certificates in ca_file: %s has none in PEM form", path)
	}
	return pool, nil
}

// publicOnly is called with the address that is about to be connected to, when names are
// resolved: what a name meant before does not count.
func publicOnly(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !public(at.Addr().Unmap()) {
		return errPrivate
	}
	return nil
}

// special are addresses that are global by their form and still lead to somebody's own
// network, or to IPv4 addresses in disguise (RFC 6890).
var special = [...]string{"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15", "240.0.0.0/4",
	"64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32", "fec0::/10"}

func public(a netip.Addr) bool {
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.Zone() != "" {
		return false
	}
	for _, p := range special {
		if netip.MustParsePrefix(p).Contains(a) {
			return false
		}
	}
	return true
}
