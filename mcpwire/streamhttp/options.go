package streamhttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"toolman/jsonrpc"
	"toolman/mcpwire/httpheader"
)

// Options say where a server is and what a connection to it may cost.
type Options struct {
	// URL is the server's MCP endpoint, http or https.
	URL string
	// Header is sent with every request; what the transport itself needs goes first.
	Header http.Header
	// Credential puts an Authorization into every request; nil: none but what Header has.
	Credential Credential
	// CAFile names a file of PEM certificates that are trusted beside the system's.
	CAFile string
	// PublicOnly refuses to connect to private addresses: for URLs that do not come from
	// the user. Proxies are not used then.
	PublicOnly bool
	// FrameLimit is the longest message taken, in bytes; 0: jsonrpc.DefaultFrameLimit.
	FrameLimit int
	// QueueLimit is how many bytes of messages may wait to be sent; 0:
	// jsonrpc.DefaultQueueLimit.
	QueueLimit int
	// Parallel is how many requests may be under way at once, subscriptions not counted; 0: 512.
	Parallel int
	// Log is told of what people should know and no message says; nil: nobody is. It must
	// not block.
	Log func(text string)
}

// A Credential is what a server wants to see of its client. Its methods may be called from
// any goroutine.
type Credential interface {
	// Authorize sets headers. It may ask another server for a token, until ctx ends. Its
	// errors say nothing secret.
	Authorize(ctx context.Context, h http.Header) error
	// Refused says that the server did not take what Authorize set. It reports whether
	// there may be something else the next time.
	Refused(h http.Header) bool
}

func (o *Options) fill() {
	if o.FrameLimit == 0 {
		o.FrameLimit = jsonrpc.DefaultFrameLimit
	}
	if o.QueueLimit == 0 {
		o.QueueLimit = jsonrpc.DefaultQueueLimit
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
}

// CheckURL reads the URL of a server. Errors do not repeat what may be secret in it.
func CheckURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("it is no URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("it does not start with http:// or https://")
	case u.Hostname() == "":
		return nil, errors.New("it names no host")
	case u.Fragment != "":
		return nil, errors.New("it has a fragment, which is never sent; take the # and what follows out")
	}
	return u, nil
}

// Shown is a URL as people may see it: without user, password, query and fragment.
func Shown(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}

// sameOrigin reports whether two URLs lead to the same server.
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && portOf(a) == portOf(b)
}

func portOf(u *url.URL) string {
	switch port := u.Port(); {
	case port != "":
		return port
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// checkHeader says what is wrong with headers that come from a configuration.
func checkHeader(h http.Header) error {
	for name, values := range h {
		if !httpheader.IsToken(name) {
			return fmt.Errorf("%q is no name of a header", name)
		}
		for _, value := range values {
			if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
				return fmt.Errorf("the value of the header %s has a line break or another control character in it", name)
			}
		}
	}
	return nil
}
