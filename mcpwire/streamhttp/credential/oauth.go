package credential

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"toolman/mcpwire/sanitize"
)

const (
	renewBefore = 30 * time.Second // a token is renewed so long before it expires
	requestTime = 20 * time.Second // for an answer of the authorization server
	maxDetail   = 200
)

// An OAuth is a client at an authorization server.
type OAuth struct {
	TokenURL     string
	ClientID     string
	ClientSecret string // "": a public client
	Scopes       []string
	Resource     string                 // the server that the tokens are for (RFC 8707); may be ""
	HTTP         *http.Client           // for requests to the authorization server; nil: the default client
	Secret       func(tokens ...string) // hears of each token before it is used; may be nil
}

// context limits a request to the authorization server.
func (o *OAuth) context(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.HTTP != nil {
		ctx = context.WithValue(ctx, oauth2.HTTPClient, o.HTTP)
	}
	return context.WithTimeout(ctx, requestTime)
}

// explain returns an error that says why there is no token. It repeats only the code of the
// authorization server's response, which RFC 6749 defines.
func (o *OAuth) explain(err error) error {
	where := "the authorization server"
	if u, parseErr := url.Parse(o.TokenURL); parseErr == nil {
		where += " at " + u.Scheme + "://" + u.Host
	}
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		code := refused.ErrorCode
		if code == "" && refused.Response != nil {
			code = refused.Response.Status
		}
		return fmt.Errorf("%s gives no token (%s); check token_url, client_id, client_secret, scopes and token_file", where, sanitize.Cut(code, maxDetail))
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err // the outer error quotes the URL
	}
	return fmt.Errorf("%s gives no token: %s", where, sanitize.Cut(err.Error(), maxDetail))
}

// A cache holds a token. turn is a mutex with a timeout: the goroutine that has put a value into it
// owns the other fields.
type cache struct {
	turn    chan struct{}
	token   oauth2.Token
	refused bool // by a server
	secret  func(tokens ...string)
}

func newCache(of OAuth) cache { return cache{turn: make(chan struct{}, 1), secret: of.Secret} }

// set stores a token.
func (c *cache) set(token oauth2.Token) {
	c.token, c.refused = token, false
	if c.secret != nil {
		c.secret(token.AccessToken, token.RefreshToken)
	}
}

// enter waits for the turn, until ctx ends.
func (c *cache) enter(ctx context.Context) error {
	select {
	case c.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *cache) leave() { <-c.turn }

// authorize sets the header Authorization, after renew has renewed the token if necessary.
func (c *cache) authorize(ctx context.Context, h http.Header, renew func(context.Context) error) error {
	if err := c.enter(ctx); err != nil {
		return err
	}
	defer c.leave()
	if err := renew(ctx); err != nil {
		return err
	}
	h.Set("Authorization", c.header())
	return nil
}

func (c *cache) header() string { return "Bearer " + c.token.AccessToken }

// fresh reports whether the token can still be used.
func (c *cache) fresh() bool {
	return c.token.AccessToken != "" && !c.refused && (c.token.Expiry.IsZero() || time.Until(c.token.Expiry) > renewBefore)
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
	return c.authorize(ctx, h, c.renew)
}

// Refused drops the token if it is the one that a server has rejected.
func (c *ClientCredentials) Refused(h http.Header) bool {
	c.enter(context.Background()) // does not fail
	defer c.leave()
	c.refused = c.refused || h.Get("Authorization") == c.header()
	return true
}

// renew requests a token unless there is a fresh one.
func (c *ClientCredentials) renew(ctx context.Context) error {
	if c.fresh() {
		return nil
	}
	ctx, cancel := c.of.context(ctx)
	defer cancel()
	config := clientcredentials.Config{ClientID: c.of.ClientID, ClientSecret: c.of.ClientSecret, TokenURL: c.of.TokenURL,
		Scopes: c.of.Scopes, EndpointParams: url.Values{}}
	if c.of.Resource != "" {
		config.EndpointParams.Set("resource", c.of.Resource)
	}
	token, err := config.Token(ctx)
	if err != nil {
		return c.of.explain(err)
	}
	c.set(*token)
	return nil
}
