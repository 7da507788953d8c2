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

	"toolman/mcpwire/sanitize"
	"toolman/mcpwire/system"
)

// maxDetail is how many characters of a foreign text are shown.
const maxDetail = 300

// A plainError has a text for users.
type plainError string

func (e plainError) Error() string { return string(e) }

// Explain returns what the failure of a request means and what to do, without the parts of the URL
// that may be secret. transient reports whether a retry may succeed.
func Explain(err error) (text string, transient bool) {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err // the outer error quotes the URL
	}
	plain, isPlain := errors.AsType[plainError](err)
	dns, isDNS := errors.AsType[*net.DNSError](err)
	op, isOp := errors.AsType[*net.OpError](err)
	timeout, isTimeout := errors.AsType[net.Error](err)
	switch {
	case isPlain:
		return string(plain), false
	case isDNS && dns.IsNotFound:
		return "the host " + sanitize.Cut(dns.Name, 100) + " does not exist; check the URL and the network", false
	case isDNS:
		return "the lookup of the host " + sanitize.Cut(dns.Name, 100) + " failed (" + sanitize.Cut(dns.Err, 100) + "); check the network", true
	case isOp && op.Op == "proxyconnect":
		return "the connection to the proxy in HTTPS_PROXY or HTTP_PROXY failed: " + sanitize.Cut(op.Err.Error(), maxDetail), true
	case system.Refused(err):
		return "connection refused; start the server, or check host and port", true
	case system.Unreachable(err):
		return "the host is unreachable; check the network", true
	case errors.Is(err, context.DeadlineExceeded), isTimeout && timeout.Timeout():
		return "the server did not respond in time; check that it is running and that the network allows connections to it", true
	}
	if text := explainTLS(err); text != "" {
		return text, false
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || system.Reset(err) {
		return "the server closed the connection before its response was complete", true
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
		return "the authority that signed the server's certificate is not trusted; put its certificate into a file and set ca_file"
	case isHost:
		return "the server's certificate is not for the host " + sanitize.Cut(host.Host, 100) + "; check the host in the URL"
	case isInvalid && invalid.Reason == x509.Expired:
		return "the server's certificate has expired or is not valid yet; renew it, or correct the clock of this machine"
	case isInvalid:
		return "the server's certificate is invalid: " + sanitize.Cut(invalid.Error(), maxDetail)
	case isRecord, strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return "the server does not use TLS; write http:// in the URL if that is right"
	case isAlert:
		return "the server ended the TLS handshake: " + sanitize.Cut(alert.Error(), maxDetail)
	}
	return ""
}
