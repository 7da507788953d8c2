package endpoint

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"toolman/mcpwire/httpclient"
	"toolman/mcpwire/httpheader"
	"toolman/mcpwire/streamhttp/internal/h1"
)

const deleteTime = 2 * time.Second

// An Endpoint is the MCP endpoint of a server.
type Endpoint struct {
	url        *url.URL // as configured
	header     http.Header
	host       string // for the header Host; "": that of the URL
	credential Credential
	client     *http.Client

	place    atomic.Pointer[url.URL] // the URL, or where the server has permanently moved to
	messages atomic.Pointer[url.URL] // for messages, if the transport is that of 2024-11-05; otherwise nil
}

// parse reads the URL of a server. Errors do not repeat it, because it may contain secrets.
func parse(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("it is not a valid URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("it does not start with http:// or https://")
	case u.Hostname() == "":
		return nil, errors.New("it has no host")
	case u.Fragment != "":
		return nil, errors.New("it has a fragment, which is never sent; remove the # and the text behind it")
	}
	return u, nil
}

// New returns the endpoint of this URL, whose requests have these headers.
func New(text string, header http.Header, credential Credential, caFile string) (*Endpoint, error) {
	u, err := parse(text)
	if err != nil {
		return nil, err
	}
	if err := checkHeader(header); err != nil {
		return nil, err
	}
	transport, err := httpclient.NewTransport(caFile)
	if err != nil {
		return nil, err
	}
	e := &Endpoint{url: u, credential: credential, client: &http.Client{Transport: h1.New(transport, u), CheckRedirect: httpclient.CheckRedirect}}
	e.header, e.host = commonHeader(header, u)
	e.place.Store(u)
	return e, nil
}

// checkHeader checks the configured headers.
func checkHeader(h http.Header) error {
	for name, values := range h {
		if !httpheader.IsToken(name) {
			return fmt.Errorf("%q is not a valid header name", name)
		}
		for _, value := range values {
			if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
				return fmt.Errorf("the value of the header %s contains a line break or another control character", name)
			}
		}
	}
	return nil
}

// commonHeader returns the headers of every request: the configured ones without those of the
// transport. It returns the header Host separately. Requests share the values, which have no room
// to append.
func commonHeader(configured http.Header, to *url.URL) (h http.Header, host string) {
	h = http.Header{}
	for name, values := range configured {
		for _, value := range values {
			h.Add(name, value)
		}
	}
	host = h.Get("Host")
	for _, name := range []string{"Host", "Content-Length", "Transfer-Encoding", "Trailer",
		httpheader.Version, httpheader.Session, httpheader.LastEvent, httpheader.Method, httpheader.Name} {
		h.Del(name)
	}
	if to.User != nil && h.Get("Authorization") == "" {
		password, _ := to.User.Password()
		(&http.Request{Header: h}).SetBasicAuth(to.User.Username(), password)
	}
	for name, values := range h {
		h[name] = slices.Clip(values)
	}
	return h, host
}

// String returns the URL without secrets.
func (e *Endpoint) String() string { return httpclient.Shown(e.url) }

// Close closes the connections that are not in use. The others are closed after their requests.
func (e *Endpoint) Close() { e.client.CloseIdleConnections() }

// UseMessages turns this into an endpoint of the transport of 2024-11-05: messages go to this URL,
// and responses come on a stream. It fails if the URL has another origin.
func (e *Endpoint) UseMessages(to string) error {
	u, err := e.url.Parse(to)
	if err != nil || !httpclient.SameOrigin(u, e.url) {
		return errors.New("the server names a URL of another origin for messages, which is not allowed")
	}
	e.messages.Store(u)
	return nil
}

// AnswersOnStream reports whether the transport is that of 2024-11-05.
func (e *Endpoint) AnswersOnStream() bool { return e.messages.Load() != nil }

// Post makes a request with a message.
func (e *Endpoint) Post(ctx context.Context, frame []byte) (*http.Request, error) {
	req, err := e.request(ctx, http.MethodPost, cmp.Or(e.messages.Load(), e.place.Load()))
	if err != nil {
		return nil, err
	}
	req.ContentLength = int64(len(frame))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(frame)), nil }
	req.Body, _ = req.GetBody()
	req.Header.Set("Content-Type", httpheader.JSON)
	req.Header.Set("Accept", httpheader.JSON+", "+httpheader.EventStream)
	return req, nil
}

// request makes a request. The credential may ask another server for a token first.
func (e *Endpoint) request(ctx context.Context, method string, to *url.URL) (*http.Request, error) {
	req := &http.Request{Method: method, URL: to, Host: cmp.Or(e.host, to.Host), Header: maps.Clone(e.header)}
	if e.credential != nil {
		if err := e.credential.Authorize(ctx, req.Header); err != nil {
			return nil, err
		}
	}
	return req.WithContext(ctx), nil
}

// Do sends a request. If the server has permanently moved, the next ones go to the new URL.
func (e *Endpoint) Do(req *http.Request) (*http.Response, error) {
	resp, moved, err := httpclient.Do(e.client, req)
	if err == nil && moved != nil && resp.StatusCode/100 == 2 {
		e.place.CompareAndSwap(req.URL, moved)
	}
	return resp, err
}

// Refused tells the credential that the server has rejected a request.
func (e *Endpoint) Refused(req *http.Request, resp *http.Response) Verdict {
	if e.credential == nil || resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
		return Verdict{}
	}
	return e.credential.Refused(req.Header, resp)
}

// Get opens a stream of a session. If lastID is not "", the stream starts behind that event.
func (e *Endpoint) Get(ctx context.Context, s Session, lastID string) (*http.Response, *Failure) {
	for again := true; ; again = false {
		req, err := e.request(ctx, http.MethodGet, e.place.Load())
		if err != nil {
			return nil, Unauthorized(err)
		}
		req.Header.Set("Accept", httpheader.EventStream)
		s.SetHeaders(req.Header)
		if lastID != "" {
			req.Header.Set(httpheader.LastEvent, lastID)
		}
		resp, err := e.Do(req)
		switch {
		case err != nil:
			return nil, NetworkFailure(err, false)
		case resp.StatusCode/100 != 2:
			f := e.Refusal(req, resp, s.ID != "")
			resp.Body.Close()
			if f.Unsent && again {
				continue
			}
			f.Unsent, f.Transient = false, f.Transient && !f.Unsent
			return nil, f
		case httpheader.MediaType(resp.Header) != httpheader.EventStream:
			resp.Body.Close()
			return nil, NotMCP(resp)
		}
		return resp, nil
	}
}

// Delete ends a session. It ignores a refusal: some servers do not allow clients to end sessions.
func (e *Endpoint) Delete(s Session) {
	ctx, cancel := context.WithTimeout(context.Background(), deleteTime)
	defer cancel()
	req, err := e.request(ctx, http.MethodDelete, e.place.Load())
	if err != nil {
		return
	}
	s.SetHeaders(req.Header)
	if resp, err := e.Do(req); err == nil {
		httpclient.Drain(resp.Body)
	}
}

// A Session identifies a session with a legacy server. The zero Session is none.
type Session struct {
	ID      string // "": the server has set none
	Version string // of the protocol
}

// SetHeaders sets the headers of a request in the session.
func (s Session) SetHeaders(h http.Header) {
	if s.ID != "" {
		h.Set(httpheader.Session, s.ID)
	}
	if s.Version != "" {
		h.Set(httpheader.Version, s.Version)
	}
}
