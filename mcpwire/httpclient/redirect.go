package httpclient

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

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
