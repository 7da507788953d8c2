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
	early     = 30 * time.Second // a token is renewed so long before it ends
	askTime   = 20 * time.Second // for an answer of the authorization server
	maxDetail = 200
)

// An OAuth is a client at an authorization server.
type OAuth struct {
	TokenURL     string
	ClientID     string
	ClientSecret string // "": a public client
	Scopes       []string
	Resource     string       // the server that the tokens are for (RFC 8707); "": it is not said
	HTTP         *http.Client // what asks the authorization server; nil: the default client
}

// A ClientCredentials gets tokens in the client's own name.
type ClientCredentials struct {
	of     OAuth
	turn   chan struct{} // holds one value while nobody looks at token
	token  *oauth2.Token // owned by who has the turn
	header string        // owned by who has the turn
}

// NewClientCredentials makes one. It asks for nothing yet.
func NewClientCredentials(of OAuth) *ClientCredentials {
	return &ClientCredentials{of: of, turn: make(chan struct{}, 1)}
}

// Authorize sets the header Authorization, with a token that is asked for if there is none.
// It waits for the authorization server, and no longer than ctx.
func (c *ClientCredentials) Authorize(ctx context.Context, h http.Header) error {
	if err := enter(ctx, c.turn); err != nil {
		return err
	}
	defer leave(c.turn)
	if !fresh(c.token) {
		token, err := c.ask(ctx)
		if err != nil {
			return err
		}
		c.token, c.header = token, bearer(token.AccessToken)
	}
	h.Set("Authorization", c.header)
	return nil
}

// Refused forgets the token that a server did not take; there may be a better one.
func (c *ClientCredentials) Refused(h http.Header) bool {
	if enter(context.Background(), c.turn) == nil {
		defer leave(c.turn)
		if h.Get("Authorization") == c.header {
			c.token = nil
		}
	}
	return true
}

// ask gets a new token.
func (c *ClientCredentials) ask(ctx context.Context) (*oauth2.Token, error) {
	ctx, cancel := c.of.context(ctx)
	defer cancel()
	config := clientcredentials.Config{ClientID: c.of.ClientID, ClientSecret: c.of.ClientSecret, TokenURL: c.of.TokenURL,
		Scopes: c.of.Scopes, EndpointParams: url.Values{}}
	if c.of.Resource != "" {
		config.EndpointParams.Set("resource", c.of.Resource)
	}
	token, err := config.Token(ctx)
	return token, c.of.explain(err)
}

// context bounds a question to the authorization server.
func (o *OAuth) context(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.HTTP != nil {
		ctx = context.WithValue(ctx, oauth2.HTTPClient, o.HTTP)
	}
	return context.WithTimeout(ctx, askTime)
}

// explain says why there is no token. What the authorization server sends is not repeated
// but for its code, which stands in RFC 6749.
func (o *OAuth) explain(err error) error {
	if err == nil {
		return nil
	}
	where := "the authorization server"
	if u, parseErr := url.Parse(o.TokenURL); parseErr == nil {
		where += " at " + u.Scheme + "://" + u.Host
	}
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		code := refused.ErrorCode
		if code == "" && refused.Response != nil {
			code = refused.Response.Status
		}
		return &deniedError{fmt.Sprintf("%s gives no token (%s); check token_url, client_id, client_secret, scopes and token_file", where, sanitize.Cut(code, maxDetail)), refused.ErrorCode}
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	return fmt.Errorf("%s gives no token: %s", where, sanitize.Cut(err.Error(), maxDetail))
}

// A deniedError is a refusal of the authorization server.
type deniedError struct{ text, code string }

func (e *deniedError) Error() string { return e.text }

// fresh reports whether a token can still be used.
func fresh(t *oauth2.Token) bool {
	return t != nil && t.AccessToken != "" && (t.Expiry.IsZero() || time.Until(t.Expiry) > early)
}

func bearer(token string) string { return "Bearer " + token }

// enter waits for the turn.
func enter(ctx context.Context, turn chan struct{}) error {
	select {
	case turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func leave(turn chan struct{}) { <-turn }
