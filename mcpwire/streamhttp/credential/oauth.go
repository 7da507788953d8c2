package credential

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"toolman/mcpwire/httpclient"
	"toolman/mcpwire/sanitize"
	"toolman/mcpwire/streamhttp/internal/endpoint"
)

const (
	requestTime = 20 * time.Second // for a response of the authorization server
	lockTime    = time.Minute      // until other processes have finished their requests
	renewPause  = 10 * time.Second // after a failure, while the token is still good
	maxDetail   = 200
)

// An OAuth is a client at an authorization server.
type OAuth struct {
	TokenURL     string
	ClientID     string
	ClientSecret string // "": a public client
	Method       string // Basic, Post or Public; "": Basic if there is a secret, and Post where the server does not take it
	Scopes       []string
	Resource     string                 // the server that the tokens are for (RFC 8707); may be ""
	HTTP         *http.Client           // for requests to the authorization server; nil: the default client
	Secret       func(tokens ...string) // hears of each token before it is used; may be nil

	// Lock locks a file across processes; nil: none but this one uses it.
	Lock func(ctx context.Context, path string) (unlock func(), err error)
}

// probe sends a token request as Token does. If the Method is not known, it finds it: a server
// that does not know the client has not used its refresh token.
func (o *OAuth) probe(ctx context.Context, form func() url.Values) (*oauth2.Token, error) {
	token, err := o.request(ctx, form())
	if refused, ok := errors.AsType[*Refused](err); ok && refused.InvalidClient() && o.Method == "" && o.ClientSecret != "" {
		post := *o
		post.Method = Post
		if token, err = post.request(ctx, form()); err == nil {
			o.Method = Post
		}
	}
	return token, err
}

// explain returns an error that says why there is no token. It repeats only the code of the
// authorization server's response.
func (o *OAuth) explain(err error) error {
	where := "the authorization server"
	if u, parseErr := url.Parse(o.TokenURL); parseErr == nil {
		where += " at " + u.Scheme + "://" + u.Host
	}
	refused, isRefused := errors.AsType[*Refused](err)
	_, isNetwork := errors.AsType[*url.Error](err)
	var wait time.Duration
	var said error
	switch {
	case isRefused:
		wait, said = refused.Wait, fmt.Errorf("%s gives no token (%w); check token_url, client_id, client_secret, scopes and token_file", where, refused)
	case isNetwork, errors.Is(err, context.DeadlineExceeded):
		text, _ := httpclient.Explain(err)
		said = fmt.Errorf("%s gives no token: %s", where, text)
	default:
		said = fmt.Errorf("%s gives no token: %s", where, sanitize.Cut(err.Error(), maxDetail))
	}
	if IsPassing(err) {
		return &endpoint.Passing{Err: said, Wait: wait}
	}
	return said
}

// A cache holds a token. turn is a mutex with a timeout: the goroutine that has put a value into it
// owns the other fields.
type cache struct {
	turn    chan struct{}
	token   oauth2.Token
	issued  time.Time // about when the token was; zero: not known
	refused bool      // by a server
	paused  time.Time // until then a token that is still good is not renewed
	secret  func(tokens ...string)
}

func newCache(of OAuth) cache { return cache{turn: make(chan struct{}, 1), secret: of.Secret} }

// set stores a token.
func (c *cache) set(token oauth2.Token, issued time.Time) {
	c.token, c.issued, c.refused, c.paused = token, issued, false, time.Time{}
	if c.secret != nil {
		c.secret(token.AccessToken, token.RefreshToken)
	}
}

// enter waits for the turn, until ctx ends.
func (c *cache) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case c.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *cache) leave() { <-c.turn }

// authorize sets the header Authorization, after renew has renewed the token if fresh reports
// false. The end of ctx ends the wait and not renew: the response may have a refresh token that is
// issued only once.
func (c *cache) authorize(ctx context.Context, h http.Header, fresh func() (bool, error), renew func(context.Context) error) error {
	if err := c.enter(ctx); err != nil {
		return err
	}
	isFresh, err := fresh()
	if err != nil || isFresh {
		defer c.leave()
		if err == nil {
			h.Set("Authorization", c.header())
		}
		return err
	}
	type result struct {
		header string
		err    error
	}
	done := make(chan result, 1)
	go func() {
		defer c.leave()
		err := renew(context.WithoutCancel(ctx))
		if err != nil && c.good() && !errors.Is(err, errUnsaved) {
			c.paused, err = time.Now().Add(renewPause), nil
		}
		done <- result{c.header(), err}
	}()
	select {
	case r := <-done:
		if r.err == nil {
			h.Set("Authorization", r.header)
		}
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *cache) header() string { return "Bearer " + c.token.AccessToken }

// good reports whether the token can be used.
func (c *cache) good() bool {
	return c.token.AccessToken != "" && !c.refused && (c.token.Expiry.IsZero() || time.Now().Before(c.token.Expiry))
}

// fresh reports whether the token can be used and need not be renewed yet.
func (c *cache) fresh() bool {
	if !c.good() || c.token.Expiry.IsZero() || time.Now().Before(c.paused) {
		return c.good()
	}
	life := time.Hour
	if !c.issued.IsZero() {
		life = c.token.Expiry.Sub(c.issued)
	}
	return time.Until(c.token.Expiry) > Margin(life)
}

// ClientCredentials requests tokens in the client's own name.
type ClientCredentials struct {
	of OAuth
	cache
}

// NewClientCredentials returns a credential that has no token yet.
func NewClientCredentials(of OAuth) *ClientCredentials {
	return &ClientCredentials{of: of, cache: newCache(of)}
}

// Authorize sets the header Authorization. It waits for the authorization server if it needs a
// token.
func (c *ClientCredentials) Authorize(ctx context.Context, h http.Header) error {
	return c.authorize(ctx, h, func() (bool, error) { return c.fresh(), nil }, c.renew)
}

// Refused drops the token if it is the one that a server has rejected.
func (c *ClientCredentials) Refused(h http.Header, resp *http.Response) endpoint.Verdict {
	if resp.StatusCode != http.StatusUnauthorized {
		return endpoint.Verdict{}
	}
	c.enter(context.Background()) // does not fail
	defer c.leave()
	c.refused = c.refused || h.Get("Authorization") == c.header()
	return endpoint.Verdict{Again: true}
}

// renew requests a token.
func (c *ClientCredentials) renew(ctx context.Context) error {
	at := time.Now()
	token, err := c.of.probe(ctx, func() url.Values {
		form := url.Values{"grant_type": {"client_credentials"}}
		if len(c.of.Scopes) > 0 {
			form.Set("scope", strings.Join(c.of.Scopes, " "))
		}
		return form
	})
	if err != nil {
		return c.of.explain(err)
	}
	c.set(*token, at)
	return nil
}
