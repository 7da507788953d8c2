package httpclient

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

// maxDetail is the number of characters that are shown of texts of others.
const maxDetail = 300

// A plainError has a text for people.
type plainError string

func (e plainError) Error() string { return string(e) }

// Explain returns what the failure of a request means and what to do, without what may be secret in
// the URL, and whether the request may succeed in a moment.
func Explain(err error) (text string, transient bool) {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err // it quotes the URL
	}
	plain, isPlain := errors.AsType[plainError](err)
	dns, isDNS := errors.AsType[*net.DNSError](err)
	op, isOp := errors.AsType[*net.OpError](err)
	timeout, isTimeout := errors.AsType[net.Error](err)
	switch {
	case isPlain:
		return string(plain), false
	case isDNS && dns.IsNotFound:
		return "there is no host of the name " + sanitize.Cut(dns.Name, 100) + "; check the URL and the network", false
	case isDNS:
		return "the name " + sanitize.Cut(dns.Name, 100) + " cannot be looked up (" + sanitize.Cut(dns.Err, 100) + "); check the network", true
	case isOp && op.Op == "proxyconnect":
		return "the proxy that HTTPS_PROXY or HTTP_PROXY names does not connect: " + sanitize.Cut(op.Err.Error(), maxDetail), true
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens there (connection refused); start the server, or check host and port", true
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "there is no way to that host; check the network", true
	case errors.Is(err, context.DeadlineExceeded), isTimeout && timeout.Timeout():
		return "the server did not respond in time; check whether it runs and the network lets it be reached", true
	}
	if text := explainTLS(err); text != "" {
		return text, false
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		return "the server closed the connection before it had answered", true
	}
	return "the connection failed: " + sanitize.Cut(err.Error(), maxDetail), true
}

// explainTLS is Explain for errors of TLS; "" for others.
func explainTLS(err error) string {
	host, isHost := errors.AsType[x509.HostnameError](err)
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err)
	alert, isAlert := errors.AsType[tls.AlertError](err)
	_, isAuthority := errors.AsType[x509.UnknownAuthorityError](err)
	_, isRecord := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case isAuthority:
		return "the server's certificate is from an authority that is not trusted here; name a file with that authority's certificate in ca_file"
	case isHost:
		return "the server's certificate is for another name than " + sanitize.Cut(host.Host, 100) + "; check the host in the URL"
	case isInvalid && invalid.Reason == x509.Expired:
		return "the server's certificate has expired, or is not valid yet; it has to be renewed (or this machine's clock is wrong)"
	case isInvalid:
		return "the server's certificate cannot be accepted: " + sanitize.Cut(invalid.Error(), maxDetail)
	case isRecord, strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return "the server does not speak TLS; write http:// if that is meant"
	case isAlert:
		return "the server broke off the TLS handshake: " + sanitize.Cut(alert.Error(), maxDetail)
	}
	return ""
}
