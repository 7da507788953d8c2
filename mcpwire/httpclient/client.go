package httpclient

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
	dialTime    = 10 * time.Second
	keepAlive   = 15 * time.Second // between probes of a silent connection
	pingTimeout = 15 * time.Second
	idleTime    = 90 * time.Second // how long an idle connection is kept
	maxIdle     = 512              // with fewer, most of many calls at once would open a connection each
	maxHeader   = 64 << 10         // bytes of a response's header
	ioBuffer    = 16 << 10         // of a connection, for each direction: most messages go in one piece
	maxCAFile   = 4 << 20
)

// Options are the options of a client.
type Options struct {
	// CAFile names a file of PEM certificates that are trusted in addition to the system's.
	CAFile string
	// PublicOnly refuses to connect to private addresses, and uses no proxies: for URLs that do not
	// come from the user.
	PublicOnly bool
}

// New returns a client.
func New(o Options) (*http.Client, error) {
	t, err := NewTransport(o)
	if err != nil {
		return nil, err
	}
	return &http.Client{Transport: t, CheckRedirect: checkRedirect}, nil
}

// NewTransport returns the transport of a client. It limits everything but the length of streams.
func NewTransport(o Options) (*http.Transport, error) {
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
		t.Proxy, dialer.Control = nil, checkAddress
	}
	if o.CAFile != "" {
		pool, err := withCertificates(o.CAFile)
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
		return nil, errors.New("it is no regular file, or too large for one of certificates")
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
		return nil, fmt.Errorf("%s has none in PEM form", path)
	}
	return pool, nil
}

const errPrivate plainError = "it leads to a private address, which is not allowed for a URL that does not come from the configuration file"

// checkAddress is called with an address before it is connected to. Names are resolved then, so
// that what they resolved to before does not count.
func checkAddress(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !isPublic(at.Addr().Unmap()) {
		return errPrivate
	}
	return nil
}

// special lists addresses that are global by their form but lead to private networks, or to IPv4
// addresses in disguise (RFC 6890).
var special = [...]string{"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15", "240.0.0.0/4",
	"64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32", "fec0::/10"}

func isPublic(a netip.Addr) bool {
	for _, p := range special {
		if netip.MustParsePrefix(p).Contains(a) {
			return false
		}
	}
	return a.IsGlobalUnicast() && !a.IsPrivate() && a.Zone() == ""
}
