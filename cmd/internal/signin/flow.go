package signin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/logins"
	"toolman/cmd/internal/signin/discovery"
	"toolman/mcpwire/httpclient"
	"toolman/mcpwire/sanitize"
	"toolman/mcpwire/streamhttp"
	"toolman/mcpwire/streamhttp/credential"
)

const maxShown = 200 // characters of a foreign text that are shown

// A Server is what the configuration says of a server and of logins to it.
type Server struct {
	Name   string
	URL    string
	CAFile string
	Header http.Header // of requests to the server

	ClientID, ClientSecret string
	ClientName             string   // "": toolman
	Scopes                 []string // nil: those that the server asks for
	Issuer                 string   // of several, and whatever metadata say; "": none
	RedirectURI            string   // "": any port
	Resource               *string  // nil: what metadata say; of "": none is sent
	AssumePKCE             bool
}

// A Flow is one login.
type Flow struct {
	Server
	Version    string                // of toolman, for the server
	File       *logins.File          // where the login is saved
	Credential streamhttp.Credential // of the login that is in the file; nil: it is not looked at
	Requested  []string              // scopes, instead of all others
	Device     bool                  // on another device, by a code
	Timeout    time.Duration

	Say    func(text string)       // tells the user something
	Print  func(url string)        // prints the URL to open
	Open   func(url string) error  // opens it in a browser; nil: the user does
	Paste  io.Reader               // lines of the user; nil: nobody is there
	Secret func(secrets ...string) // hears of secrets before they are used

	anyPort  string // redirect URI of tests, in place of one with any port
	server   *url.URL
	met      addresses
	http     *http.Client // for requests to the authorization server
	old      *logins.Record
	as       *discovery.Server
	resource string
	scopes   []string
}

// A State is how a login ended.
type State int

// How a login ends if it does not fail.
const (
	NotWanted State = iota // the server wants none
	Already                // there is a good one
	Wanted                 // the server wants one, and nobody has logged in
	LoggedIn
)

// An Outcome is the result of a login. Record is nil for NotWanted and Wanted.
type Outcome struct {
	State  State
	Record *logins.Record
}

// Look finds out whether the server wants a login, and sends nothing to an authorization server but
// the refresh token of the login that is there.
func (f *Flow) Look(ctx context.Context) (Outcome, error) {
	wanted, err := f.look(ctx)
	return Outcome{wanted.state, wanted.record}, err
}

func (f *Flow) look(ctx context.Context) (wanted demand, err error) {
	if f.server, err = url.Parse(f.URL); err != nil {
		return demand{}, cli.Usage(errors.New("the url of the server cannot be read"), "correct it")
	}
	if f.old, err = f.File.Load(); err != nil {
		return demand{}, cli.Failed(err, "toolman logout removes it, and then you can log in again")
	}
	if f.old == nil {
		f.old = &logins.Record{}
	}
	return f.ask(ctx)
}

// Run logs in, unless there is nothing to do.
func (f *Flow) Run(ctx context.Context) (Outcome, error) {
	wanted, err := f.look(ctx)
	if err != nil || wanted.state != Wanted {
		return Outcome{wanted.state, wanted.record}, err
	}
	if err := f.discover(ctx, wanted); err != nil {
		return Outcome{}, err
	}
	f.Secret(f.ClientSecret, f.old.Client.Secret, f.old.Registered.Secret)
	var record *logins.Record
	if f.Device {
		record, err = f.device(ctx)
	} else {
		record, err = f.browser(ctx)
	}
	return Outcome{LoggedIn, record}, err
}

// discover finds the authorization server, and what to ask it for.
func (f *Flow) discover(ctx context.Context, wanted demand) error {
	var err error
	if f.http, err = httpclient.NewGuarded(f.rules()); err != nil {
		return err
	}
	finder := &discovery.Finder{HTTP: f.http, Issuer: f.Issuer, AssumePKCE: f.AssumePKCE, HasClient: f.ClientID != "", Device: f.Device, Say: func(text string) { f.Say(f.Name + ": " + text) }}
	found, err := finder.Resource(ctx, f.server, wanted.metadata)
	if err != nil {
		return err
	}
	if f.as, err = finder.Server(ctx, f.server, found); err != nil {
		return err
	}
	f.resource = discovery.Canonical(f.server)
	var supported []string
	if found != nil {
		f.resource, supported = found.ID, found.Scopes
	}
	if f.Resource != nil {
		f.resource = *f.Resource
	}
	f.scopes = f.choose(wanted, supported)
	return nil
}

// Guard says where requests to the server's authorization server go.
func (s *Server) Guard() logins.Guard {
	return logins.Guard{Server: s.URL, CAFile: s.CAFile, Issuer: s.Issuer}
}

// choose returns the scopes to ask for: those that the user wants, or else those that the server's
// challenge names, or else those that its metadata name; in any case those that a request was
// refused for, and earlier ones.
func (f *Flow) choose(wanted demand, supported []string) []string {
	refused := f.old.Challenge != nil && len(f.old.Challenge.Scopes) > 0
	var first, all []string
	own := true
	switch {
	case len(f.Requested) > 0:
		first = f.Requested
	case len(f.Scopes) > 0:
		first = f.Scopes
	default:
		own = false
		if first = wanted.scopes; len(first) == 0 && !refused {
			first = supported
		}
	}
	lists := [][]string{first}
	if refused {
		lists = append(lists, f.old.Challenge.Scopes)
	}
	if refused || !own {
		lists = append(lists, f.old.Asked)
	}
	if slices.Contains(f.as.Scopes, offline) {
		lists = append(lists, []string{offline})
	}
	for _, s := range slices.Concat(lists...) {
		if s != "" && !slices.Contains(all, s) && IsScope(s) {
			all = append(all, s)
		}
	}
	return all
}

// offline is the scope for refresh tokens (OpenID Connect Core, 11).
const offline = "offline_access"

// IsScope reports whether s is a scope-token (RFC 6749, 3.3).
func IsScope(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' })
}

// announce says who is asked for what, before the user is asked to approve it.
func (f *Flow) announce(where string) {
	u, err := url.Parse(where)
	if err != nil {
		return // it was checked
	}
	what := "no particular scopes"
	if len(f.scopes) > 0 {
		what = "the scopes " + sanitize.Cut(strings.Join(f.scopes, " "), 10*maxShown)
	}
	f.Say(fmt.Sprintf("%s: the server %s names %s for logins; toolman asks it for %s", f.Name, httpclient.Shown(f.server), sanitize.Cut(u.Host, maxShown), what))
}

// exchange requests tokens with a form, and saves the login.
func (f *Flow) exchange(ctx context.Context, c *logins.Client, form url.Values) (*logins.Record, error) {
	of := f.client(c)
	token, err := of.Token(ctx, form)
	if err != nil {
		return nil, f.noTokens(ctx, c, err)
	}
	return f.save(ctx, c, token)
}

// describe makes a record that of this login, without its tokens.
func (f *Flow) describe(r *logins.Record, c *logins.Client) {
	*r = logins.Record{Key: r.Key, Version: r.Version, Issuer: f.as.Issuer, AuthorizationEndpoint: f.as.Authorization, TokenEndpoint: f.as.Token, RevocationEndpoint: f.as.Revocation,
		Client: *c, RedirectURI: c.RedirectURI, Resource: f.resource, Asked: f.scopes, Bound: r.Bound}
	if c.Origin == configured {
		r.Bound = f.as.Issuer
	}
}

// prepare returns an error if the login could not be saved, before anybody makes it. It saves the
// client if that is registered, so that the next login has it even if this one is not completed.
func (f *Flow) prepare(ctx context.Context, c *logins.Client) error {
	err := f.File.Update(ctx, func(r *logins.Record) error {
		login, kept := *r, *r
		if f.describe(&login, c); !login.HasRoom() {
			return fmt.Errorf("what the authorization server %s says of itself, of toolman and of scopes is too long to be kept", sanitize.Cut(f.as.Issuer, maxShown))
		}
		if kept.Registered = *c; c.Origin == registered && *c != r.Client && kept.HasRoom() {
			*r = kept
		}
		return nil
	})
	if err == nil {
		return nil
	}
	return cli.Failed(fmt.Errorf("the login could not be saved: %w", err), "correct that; if the server names too many scopes, set scopes in oauth of the server")
}

// save saves the login.
func (f *Flow) save(ctx context.Context, c *logins.Client, token *oauth2.Token) (*logins.Record, error) {
	granted := f.scopes
	if said, _ := token.Extra("scope").(string); said != "" {
		granted = strings.Fields(said)
	}
	now := time.Now().Round(0)
	var saved logins.Record
	err := f.File.Update(context.WithoutCancel(ctx), func(r *logins.Record) error {
		f.describe(r, c)
		r.Granted, r.AccessToken, r.RefreshToken, r.Expiry, r.LoggedIn, r.Renewed = granted, token.AccessToken, token.RefreshToken, token.Expiry, now, now
		saved = *r
		return nil
	})
	if err != nil {
		return nil, cli.Failed(fmt.Errorf("the authorization server issued tokens, but the login failed: %w", err), "correct that, and log in again")
	}
	return &saved, nil
}

// client returns the client for token requests.
func (f *Flow) client(c *logins.Client) *credential.OAuth {
	return &credential.OAuth{TokenURL: f.as.Token, ClientID: c.ID, ClientSecret: c.Secret, Method: c.Method, Resource: f.resource, HTTP: f.http, Secret: f.Secret}
}

// noTokens returns the error of a token request.
func (f *Flow) noTokens(ctx context.Context, c *logins.Client, err error) error {
	where := "the authorization server " + sanitize.Cut(f.as.Issuer, maxShown)
	refused, ok := errors.AsType[*credential.Refused](err)
	if !ok {
		return cli.Failed(fmt.Errorf("%s issues no token: %s", where, words(err)), "run the command again; if that happens again, its operator has to correct it")
	}
	hint := "run the command again"
	switch {
	case refused.InvalidClient() && c.Origin == configured:
		hint = "check client_id and client_secret in oauth of the server"
	case refused.InvalidClient():
		hint = registersAnew
		f.forget(ctx, c)
	case refused.Code == "invalid_target":
		hint = `set resource in oauth of the server to what the service expects, or to "" to send none`
	case refused.Passing():
		hint = "try again later"
	}
	return cli.Failed(fmt.Errorf("%s issues no token: %s", where, words(err)), hint)
}

// words returns why a request to an authorization server failed, with what that says of it.
func words(err error) string {
	if refused, ok := errors.AsType[*credential.Refused](err); ok {
		if refused.Words != "" {
			return refused.Error() + ": " + refused.Words
		}
		return refused.Error()
	}
	if _, isNetwork := errors.AsType[*url.Error](err); isNetwork {
		text, _ := httpclient.Explain(err)
		return text
	}
	return sanitize.Cut(err.Error(), maxShown)
}
