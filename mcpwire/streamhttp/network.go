package streamhttp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"

	"toolman/mcpwire/sanitize"
)

// broken is a failure below HTTP. unsent says that nothing of the message went out.
func (c *Conn) broken(err error, unsent bool) *failure {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err // it quotes the URL with all that is in it
	}
	text, passing := networkText(err, c.url)
	return &failure{text: c.where + ": " + text, unsent: unsent, passing: passing}
}

// networkText says what went wrong and what to do, and whether it may well work in a
// moment.
func networkText(err error, to *url.URL) (text string, passing bool) {
	var dns *net.DNSError
	var redirect *redirectError
	var proxy *net.OpError
	switch {
	case errors.As(err, &redirect):
		return redirect.text, false
	case errors.Is(err, errPrivate):
		return refusedPublic, false
	case errors.As(err, &dns) && dns.IsNotFound:
		return "there is no host of the name " + sanitize.Cut(dns.Name, 100) + "; check the URL and the network", false
	case errors.As(err, &dns):
		return "the name " + sanitize.Cut(dns.Name, 100) + " cannot be looked up (" + sanitize.Cut(dns.Err, 100) + "); check the network", true
	case errors.As(err, &proxy) && proxy.Op == "proxyconnect":
		return "the proxy that HTTPS_PROXY or HTTP_PROXY names does not connect: " + sanitize.Cut(proxy.Err.Error(), maxDetail), true
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens there (connection refused); start the server, or check host and port", true
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "there is no way to that host; check the network", true
	case errors.Is(err, context.DeadlineExceeded), isTimeout(err):
		return "the server did not respond in time; check whether it runs and the network lets it be reached", true
	}
	if text, ok := tlsText(err, to); ok {
		return text, false
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		return "the server closed the connection before it had answered", true
	}
	return "the connection failed: " + sanitize.Cut(err.Error(), maxDetail), true
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// tlsText is networkText for what TLS has to say.
func tlsText(err error, to *url.URL) (text string, ok bool) {
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	switch {
	case errors.As(err, &authority):
		return "the server's certificate is from an authority that is not trusted here; name a file with that authority's certificate in ca_file", true
	case errors.As(err, &host):
		return "the server's certificate is for another name than " + sanitize.Cut(to.Hostname(), 100) + "; check the host in the URL", true
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the server's certificate has expired, or is not valid yet; it has to be renewed (or this machine's clock is wrong)", true
	case errors.As(err, &invalid):
		return "the server's certificate cannot be accepted: " + sanitize.Cut(invalid.Error(), maxDetail), true
	case errors.As(err, &record), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return "the server does not speak TLS; write http:// if that is meant", true
	case errors.As(err, &alert):
		return "the server broke off the TLS handshake: " + sanitize.Cut(alert.Error(), maxDetail), true
	}
	return "", false
}
