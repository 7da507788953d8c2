package streamhttp

import (
	"fmt"
	"net/http"
	"net/url"
)

const maxRedirects = 5

// do sends a request. http.Client prepares each for being redirected, which hardly any is: it
// gets those that are, with where they are to go. Where the server has moved to for good, the
// next ones go at once.
func (c *Conn) do(req *http.Request) (*http.Response, error) {
	resp, err := c.client.Transport.RoundTrip(req)
	if err != nil || !redirects(resp) {
		return resp, err
	}
	drain(resp.Body)
	resp.Body.Close()
	again, err := redirected(req, resp)
	if err != nil {
		return nil, err
	}
	forGood := resp.StatusCode == http.StatusPermanentRedirect
	if resp, err = c.client.Do(again); err == nil && forGood && resp.StatusCode/100 == 2 {
		c.move(req.URL, again.URL)
	}
	return resp, err
}

func redirects(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return resp.Header.Get("Location") != ""
	}
	return false
}

// redirected is a POST as it goes to where a response sends it.
func redirected(req *http.Request, resp *http.Response) (*http.Request, error) {
	to, err := req.URL.Parse(resp.Header.Get("Location"))
	if err != nil {
		return nil, &redirectError{"it redirects to what is no URL"}
	}
	again := req.WithContext(req.Context())
	again.URL = to
	if resp.StatusCode != http.StatusTemporaryRedirect && resp.StatusCode != http.StatusPermanentRedirect {
		again.Method = http.MethodGet // as clients take it (RFC 9110, 15.4)
	}
	again.Body, _ = req.GetBody()
	return again, checkRedirect(again, []*http.Request{req})
}

// checkRedirect follows a server only within its own origin, and only where the message
// goes along: credentials and calls are for nobody else.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case !sameOrigin(req.URL, first.URL):
		return &redirectError{fmt.Sprintf("it redirects to another origin, %s, which is not followed; if that is right, write that URL", Shown(req.URL))}
	case req.Method != first.Method:
		return &redirectError{fmt.Sprintf("it redirects to %s in a way that would lose the message; write that URL", Shown(req.URL))}
	case len(via) >= maxRedirects:
		return &redirectError{"it redirects in circles"}
	}
	return nil
}

type redirectError struct{ text string }

func (e *redirectError) Error() string { return e.text }

// move has messages sent from now on to where the server is, if this is where they go now.
func (c *Conn) move(from, to *url.URL) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.place == from {
		c.place = to
	}
}

// address is where the server is.
func (c *Conn) address() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.place.String()
}
