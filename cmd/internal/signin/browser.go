package signin

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/logins"
	"toolman/cmd/internal/signin/callback"
	"toolman/mcpwire/httpclient"
	"toolman/mcpwire/sanitize"
)

// browser logs in through a browser on this machine, or one that the user takes the URL to.
func (f *Flow) browser(ctx context.Context) (record *logins.Record, err error) {
	back, err := f.listen()
	if err != nil {
		return nil, err
	}
	defer func() { back.Close(err == nil) }()
	c, err := f.chooseClient(ctx, back.URI())
	if err != nil {
		return nil, err
	}
	if err := f.prepare(ctx, c); err != nil {
		return nil, err
	}
	verifier := oauth2.GenerateVerifier()
	expected := callback.Expected{State: oauth2.GenerateVerifier(), Issuer: f.as.Issuer, SendsIssuer: f.as.SendsIssuer}
	f.Secret(verifier, expected.State)
	at, err := f.authorizationURL(c, expected.State, oauth2.S256ChallengeFromVerifier(verifier))
	if err != nil {
		return nil, err
	}
	f.announce(at)
	answers := back.Serve(expected)
	opened := f.show(at)
	code, err := f.await(ctx, c, opened, answers, f.pasted(expected, back.URI()))
	if err != nil {
		return nil, err
	}
	f.Secret(code)
	return f.exchange(ctx, c, url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {c.RedirectURI}, "code_verifier": {verifier}})
}

// listen opens the port of the redirect URI: the configured one, that of the registered client, or
// a free one.
func (f *Flow) listen() (*callback.Server, error) {
	if f.RedirectURI != "" {
		return callback.Listen(f.RedirectURI)
	}
	if known := f.registration(); (f.ClientID == "" || isDocument(f.ClientID)) && known.RedirectURI != "" {
		if back, err := callback.Listen(known.RedirectURI); err == nil {
			return back, nil
		}
		f.Say(f.Name + ": the port of the last login is in use, so toolman registers with another one")
	}
	return callback.Listen(cmp.Or(f.anyPort, callback.DefaultURI))
}

// authorizationURL returns the URL for the browser. The query that the endpoint has stays, but for
// what a login sets.
func (f *Flow) authorizationURL(c *logins.Client, state, challenge string) (string, error) {
	u, err := url.Parse(f.as.Authorization)
	if err != nil {
		return "", notOpened(f.as.Authorization)
	}
	query := u.Query()
	for key, value := range map[string]string{
		"response_type": "code", "client_id": c.ID, "redirect_uri": c.RedirectURI, "state": state,
		"code_challenge": challenge, "code_challenge_method": "S256",
		"scope": strings.Join(f.scopes, " "), "resource": f.resource,
	} {
		if query.Del(key); value != "" {
			query.Set(key, value)
		}
	}
	if slices.Contains(f.scopes, offline) {
		query.Set("prompt", "consent") // without it servers may leave the scope out (OpenID Connect Core, 11)
	}
	u.RawQuery = query.Encode()
	return u.String(), checkOpened(u)
}

// checkOpened returns an error for a URL that no browser is to open. A program that opens it gets it
// as one argument, which must not look like an option or be read by a shell.
func checkOpened(u *url.URL) error {
	text := u.String()
	local := httpclient.IsLoopback(u.Hostname())
	foreign := strings.ContainsFunc(u.Host, func(r rune) bool { return r <= ' ' || r > '~' })
	if u.Hostname() == "" || foreign || u.User != nil || u.Scheme != "https" && !(u.Scheme == "http" && local) ||
		strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"<>\\^`{|}", r) }) {
		return notOpened(text)
	}
	return nil
}

func notOpened(text string) error {
	if i := strings.IndexByte(text, '?'); i >= 0 {
		text = text[:i]
	}
	return cli.Failed(fmt.Errorf("the URL for the login is not opened: %s is not a URL of https without a user", sanitize.Quoted(text, maxShown)),
		"the operator of the authorization server has to correct its authorization_endpoint")
}

// show prints a URL and opens it in the browser, if there is one. The channel gets how that went; it
// is nil without a browser.
func (f *Flow) show(at string) <-chan error {
	f.Print(at)
	if f.Open == nil {
		f.unopened()
		return nil
	}
	f.Say(f.Name + ": waiting for the login in the browser; if none shows it, open its URL yourself")
	opened := make(chan error, 1)
	go func() { opened <- f.Open(at) }() // some browsers end only when the page is loaded
	return opened
}

// unopened asks the user to open the URL.
func (f *Flow) unopened() {
	f.Say(f.Name + ": open the URL above in a browser")
	if f.Paste != nil {
		f.Say(f.Name + ": if that browser is on another machine, it cannot load the last page: paste the URL of that page here")
	}
}

// pasted returns a channel that gets the answer which the user pastes. If nobody is there, it is nil.
func (f *Flow) pasted(e callback.Expected, redirectURI string) <-chan callback.Answer {
	if f.Paste == nil {
		return nil
	}
	answers := make(chan callback.Answer, 1)
	go func() { // until the process ends, or the input
		lines := bufio.NewScanner(f.Paste)
		lines.Buffer(nil, 128<<10)
		for lines.Scan() {
			if strings.TrimSpace(lines.Text()) == "" {
				continue
			}
			a, err := e.Pasted(lines.Text(), redirectURI)
			if err == nil {
				answers <- a
				return
			}
			f.Say(f.Name + ": " + err.Error())
		}
	}()
	return answers
}

// ErrDeclined is the cause of the end of a context if the user has not opened the URL.
var ErrDeclined = errors.New("the login is declined")

// await waits for the code.
func (f *Flow) await(ctx context.Context, c *logins.Client, opened <-chan error, redirected, pasted <-chan callback.Answer) (string, error) {
	waiting, cancel := context.WithTimeout(ctx, f.Timeout)
	defer cancel()
	for {
		select {
		case a := <-redirected:
			return f.code(ctx, c, a)
		case a := <-pasted:
			return f.code(ctx, c, a)
		case err := <-opened:
			if err == nil {
				continue
			}
			f.Say(f.Name + ": no browser can be started: " + sanitize.Cut(err.Error(), maxShown))
			f.unopened()
		case <-waiting.Done():
			if *c == f.registration() && !errors.Is(context.Cause(ctx), ErrDeclined) {
				f.forget(ctx, c) // the page may have said that it does not know the client, unless that was registered just now
			}
			if ctx.Err() != nil {
				return "", cli.Failed(errors.New("the login was interrupted"), "run the command again")
			}
			return "", cli.Failed(fmt.Errorf("nobody has approved the login within %v", f.Timeout), "run the command again; --timeout gives more time")
		}
	}
}

// code returns the code of an answer.
func (f *Flow) code(ctx context.Context, c *logins.Client, a callback.Answer) (string, error) {
	if a.InvalidClient && c.Origin == registered {
		f.forget(ctx, c)
		return "", cli.Failed(a.Err, registersAnew)
	}
	return a.Code, a.Err
}
