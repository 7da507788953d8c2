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

// Do sends a request and follows redirects. moved is the URL that the server has moved to for good,
// nil if it has not.
//
// http.Client.Do prepares each request for redirects, which hardly any needs.
func Do(t http.RoundTripper, req *http.Request) (resp *http.Response, moved *url.URL, err error) {
	permanent := true
	for via := []*http.Request(nil); ; {
		resp, err = t.RoundTrip(req)
		if err != nil || !isRedirect(resp) {
			return resp, moved, err
		}
		Drain(resp.Body)
		via = append(via, req)
		if req, err = redirected(req, resp, via); err != nil {
			return nil, nil, err
		}
		if permanent = permanent && resp.StatusCode == http.StatusPermanentRedirect; permanent {
			moved = req.URL
		}
	}
}

// Drain reads what is left of a small body, so that its connection can be used again, and closes
// it.
func Drain(body io.ReadCloser) {
	io.CopyN(io.Discard, body, 64<<10)
	body.Close()
}

func isRedirect(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return resp.Header.Get("Location") != ""
	}
	return false
}

// redirected returns the request that a response redirects to.
func redirected(req *http.Request, resp *http.Response, via []*http.Request) (*http.Request, error) {
	to, err := req.URL.Parse(resp.Header.Get("Location"))
	if err != nil {
		return nil, plainError("it redirects to what is no URL")
	}
	next := req.WithContext(req.Context())
	next.URL = to
	if resp.StatusCode != http.StatusTemporaryRedirect && resp.StatusCode != http.StatusPermanentRedirect {
		next.Method = http.MethodGet // as clients treat it (RFC 9110, 15.4)
	}
	if req.GetBody != nil {
		next.Body, _ = req.GetBody()
	}
	return next, checkRedirect(next, via)
}

// checkRedirect allows redirects that stay within the origin and take the message along:
// credentials and calls are for no other server.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case !SameOrigin(req.URL, first.URL):
		return plainError(fmt.Sprintf("it redirects to another origin, %s, which is not followed; if that is right, write that URL", Shown(req.URL)))
	case req.Method != first.Method:
		return plainError(fmt.Sprintf("it redirects to %s in a way that would lose the message; write that URL", Shown(req.URL)))
	case len(via) >= maxRedirects:
		return plainError("it redirects in circles")
	}
	return nil
}

// Shown returns a URL as people may see it: without user, password, query and fragment.
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
