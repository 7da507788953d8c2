package httpclient

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
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

// New returns a client. It trusts the certificates in caFile, a file in PEM form, in addition to
// the system's. caFile may be "".
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

const maxRedirects = 5

// Do sends a request with a client whose redirects CheckRedirect checks. moved is the URL that the
// server has permanently moved to, or nil.
func Do(c *http.Client, req *http.Request) (resp *http.Response, moved *url.URL, err error) {
	resp, err = c.Do(req)
	if err != nil {
		return nil, nil, err
	}
	for r := resp.Request; r.Response != nil; r = r.Response.Request {
		switch {
		case r.Response.StatusCode != http.StatusPermanentRedirect:
			moved = nil
		case moved == nil:
			moved = r.URL
		}
	}
	return resp, moved, nil
}

// Drain reads what is left of a small body, so that its connection can be used again, and closes
// it.
func Drain(body io.ReadCloser) {
	io.CopyN(io.Discard, body, 64<<10)
	body.Close()
}

// CheckRedirect is for http.Client. It allows redirects that stay within the origin and repeat the
// message, because credentials and calls are for no other server.
func CheckRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	req.Host = first.Host
	switch {
	case !SameOrigin(req.URL, first.URL):
		return plainError(fmt.Sprintf("the server redirects to another origin, %s, which is not followed; if that is right, configure that URL", Shown(req.URL)))
	case req.Method != first.Method:
		return plainError(fmt.Sprintf("the server redirects to %s with a status that drops the message; configure that URL", Shown(req.URL)))
	case len(via) >= maxRedirects:
		return plainError(fmt.Sprintf("the server redirects more than %d times; configure the final URL", maxRedirects))
	}
	return nil
}

// Shown returns a URL without secrets: without user, password, query and fragment.
func Shown(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}

// SameOrigin reports whether two URLs have the same scheme, host and port.
func SameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	byDefault := "80"
	if u.Scheme == "https" {
		byDefault = "443"
	}
	return cmp.Or(u.Port(), byDefault)
}
