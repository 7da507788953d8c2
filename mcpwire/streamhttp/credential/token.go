package credential

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"toolman/mcpwire/httpclient"
	"toolman/mcpwire/httpheader"
	"toolman/mcpwire/sanitize"
)

// The values of OAuth.Method: how the client names itself to the authorization server.
const (
	Basic  = "basic" // client_secret_basic of RFC 7591, 2
	Post   = "post"  // client_secret_post
	Public = "none"
)

const (
	maxToken    = 16 << 10 // bytes
	maxScope    = 8 << 10  // bytes; what is longer does not count
	maxLifetime = 10 * 365 * 24 * time.Hour
)

// A Refused is the error response of an authorization server to a token request (RFC 6749, 5.2).
type Refused struct {
	Status int
	Code   string        // such as invalid_grant; "": the response has none
	Words  string        // error_description, for users
	Wait   time.Duration // that the server asks for; 0: none
}

// Error implements error. It repeats the code alone, which RFC 6749 defines.
func (e *Refused) Error() string {
	if e.Code != "" {
		return e.Code
	}
	return strconv.Itoa(e.Status) + " " + http.StatusText(e.Status)
}

// Passing reports whether the same request may succeed later.
func (e *Refused) Passing() bool {
	return e.Status >= 500 || e.Status == http.StatusTooManyRequests || e.Code == "temporarily_unavailable" || e.Code == "server_error"
}

// InvalidGrant reports whether a refresh token or a code is not valid, or no longer. Some servers
// have words of their own for that.
func (e *Refused) InvalidGrant() bool {
	switch e.Code {
	case "invalid_grant", "bad_refresh_token", "invalid_refresh_token", "bad_verification_code":
		return true
	}
	return false
}

// InvalidClient reports whether the server does not know the client, or has another secret of it.
func (e *Refused) InvalidClient() bool {
	switch e.Code {
	case "invalid_client", "unauthorized_client", "invalid_client_id", "bad_client_secret", "incorrect_client_credentials":
		return true
	}
	return e.Code == "" && e.Status == http.StatusUnauthorized
}

// IsPassing reports whether a token request that failed may succeed later.
func IsPassing(err error) bool {
	if refused, ok := errors.AsType[*Refused](err); ok {
		return refused.Passing()
	}
	_, again := httpclient.Explain(err)
	_, isNetwork := errors.AsType[*url.Error](err)
	return again && isNetwork
}

// Token sends a token request with these parameters, and resource and the client's own. It sends it
// once. An error is a *Refused, or says why there was no usable response. The scopes of the token
// are in its extra field scope.
func (o *OAuth) Token(ctx context.Context, form url.Values) (*oauth2.Token, error) {
	token, err := o.request(ctx, form)
	if err == nil {
		o.issued(token)
	}
	return token, err
}

// issued tells Secret of a token.
func (o *OAuth) issued(token *oauth2.Token) {
	if o.Secret != nil {
		o.Secret(token.AccessToken, token.RefreshToken)
	}
}

// request is Token without Secret.
func (o *OAuth) request(ctx context.Context, form url.Values) (*oauth2.Token, error) {
	if o.Resource != "" {
		form.Set("resource", o.Resource)
	}
	sent := time.Now()
	doc, err := o.Post(ctx, o.TokenURL, form)
	if err != nil {
		return nil, err
	}
	return parseToken(doc, sent)
}

// Post sends a form to an endpoint of the authorization server, with what names the client. It
// returns the object in the response, which may be nil. Errors are those of Token.
func (o *OAuth) Post(ctx context.Context, endpoint string, form url.Values) (httpclient.Object, error) {
	method := o.Method
	switch {
	case o.ClientSecret == "":
		method = Public
	case method == "":
		method = Basic
	}
	if method != Basic {
		form.Set("client_id", o.ClientID)
	}
	if method == Post {
		form.Set("client_secret", o.ClientSecret)
	}
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, errors.New("the URL of the endpoint is not valid") // the error of url quotes it
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if method == Basic {
		req.SetBasicAuth(url.QueryEscape(o.ClientID), url.QueryEscape(o.ClientSecret)) // RFC 6749, 2.3.1
	}
	client := o.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	doc, resp, err := httpclient.GetObject(ctx, client, req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 != 2 || doc.Text("error") != "" && !doc.Has("access_token") {
		return nil, &Refused{resp.StatusCode, sanitize.Cut(doc.Text("error"), maxDetail), sanitize.Cut(doc.Text("error_description"), maxDetail), httpheader.RetryAfter(resp.Header)}
	}
	return doc, nil
}

// Refresh uses a refresh token. The token that it returns has a new refresh token, or the same one
// if the server has issued none.
func (o *OAuth) Refresh(ctx context.Context, refreshToken string) (*oauth2.Token, error) {
	token, err := o.request(ctx, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refreshToken}})
	if err != nil {
		return nil, err
	}
	if token.RefreshToken == "" {
		token.RefreshToken = refreshToken
	}
	o.issued(token)
	return token, nil
}

// parseToken reads a token response (RFC 6749, 5.1). Errors do not quote it.
func parseToken(doc httpclient.Object, sent time.Time) (*oauth2.Token, error) {
	t := &oauth2.Token{AccessToken: doc.Text("access_token"), RefreshToken: doc.Text("refresh_token"), TokenType: doc.Text("token_type")}
	switch {
	case t.AccessToken == "":
		return nil, errors.New("the response of the authorization server contains no access_token")
	case !sendable(t.AccessToken) || !sendable(t.RefreshToken) || len(t.AccessToken) > maxToken || len(t.RefreshToken) > maxToken:
		return nil, fmt.Errorf("the authorization server issued a token that is not visible ASCII or has more than %d bytes", maxToken)
	case t.TokenType != "" && !strings.EqualFold(t.TokenType, "Bearer"):
		return nil, fmt.Errorf("the authorization server issued a token of the type %q, and only Bearer is supported", sanitize.Cut(t.TokenType, 40))
	}
	life, err := lifetime(doc["expires_in"])
	if err != nil {
		return nil, err
	}
	if life > 0 {
		t.Expiry = sent.Add(life).Round(0)
	}
	scope := doc.Text("scope")
	if len(scope) > maxScope {
		scope = ""
	}
	return t.WithExtra(map[string]any{"scope": scope}), nil
}

// lifetime reads expires_in. 0 is not known: without the member, and for servers that issue tokens
// without an end and write 0.
func lifetime(raw json.RawMessage) (time.Duration, error) {
	if raw == nil || string(raw) == "null" {
		return 0, nil
	}
	n, ok := seconds(raw)
	if !ok {
		return 0, errors.New("the authorization server issued a token whose expires_in is not a number of seconds")
	}
	return time.Duration(min(n, maxLifetime.Seconds()) * float64(time.Second)), nil
}

// seconds reads a number of seconds, which may be in a string.
func seconds(raw json.RawMessage) (s float64, ok bool) {
	var n json.Number
	if json.Unmarshal(raw, &n) != nil {
		return 0, false
	}
	s, err := n.Float64()
	return s, s >= 0 && (err == nil || s > 0) // infinite
}

// Margin returns how long before its end a token of this lifetime is renewed: a fifth of it, but at
// least 30 seconds and at most 5 minutes, and never more than half of it.
func Margin(life time.Duration) time.Duration {
	return min(max(life/5, 30*time.Second), 5*time.Minute, life/2)
}
