package logins

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/mcpwire/httpclient"
	"toolman/mcpwire/sanitize"
	"toolman/mcpwire/streamhttp/credential"
)

// A renewal is one attempt to renew the token of a login, in whatever process.
type renewal struct {
	Path            string // of the file
	Key             Key    // of the file
	Server, Command string // as in Options
	Guard           Guard
	Used            string // the access token that is not used any more
	Refused         string // the access token that the server has last refused; "": none

	client func(ctx context.Context) (*http.Client, error)
	secret func(values ...string) // hears of tokens and secrets before they are used
}

// An outcome is what has come of a renewal.
type outcome struct {
	Asked   *Record  // after the request to the authorization server; nil: there was none
	Failed  failure  // of the request
	Unsaved string   // why the file has not changed; "": it has, or it need not
	Said    []string // for users
}

// A failure says why the authorization server has not given tokens, nor refused them for good.
type failure struct {
	Text    string        // "": there is none
	Passing bool          // the same request may succeed later
	Wait    time.Duration // that the authorization server asks for
}

// answered reports whether the authorization server has said what the login is now.
func (o *outcome) answered() bool { return o.Asked != nil && o.Failed.Text == "" }

// err returns what has failed.
func (o *outcome) err() error {
	var all []error
	for _, text := range []string{o.Unsaved, o.Failed.Text} {
		if text != "" {
			all = append(all, errors.New(text))
		}
	}
	return errors.Join(all...)
}

// run renews the token in the file, unless another process has done so.
func (r *renewal) run(ctx context.Context, file *File) (done outcome) {
	locking, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	err := file.Update(locking, func(of *Record) error {
		if of.AccessToken != r.Used && of.fresh() || of.RefreshToken == "" {
			return nil // another process has renewed it, or has found that a login is wanted
		}
		r.redeem(ctx, of, &done)
		done.Asked = of
		return nil
	})
	if err != nil {
		done.Unsaved = err.Error()
	}
	return done
}

// redeem asks the authorization server for new tokens and puts them into a record. If it will give
// none, redeem takes the refresh token out, and the access token if that is not good either.
func (r *renewal) redeem(ctx context.Context, of *Record, done *outcome) {
	client, err := r.client(ctx)
	if err != nil {
		done.Failed.Text = err.Error()
		return
	}
	defer client.CloseIdleConnections()
	as := credential.OAuth{TokenURL: of.TokenEndpoint, ClientID: of.Client.ID, ClientSecret: of.Client.Secret, Method: of.Client.Method,
		Resource: of.Resource, HTTP: client, Secret: func(tokens ...string) { r.secret(append(tokens, of.Client.Secret)...) }}
	at := time.Now().UTC().Round(0)
	token, err := as.Refresh(ctx, of.RefreshToken)
	refused, isRefused := errors.AsType[*credential.Refused](err)
	switch {
	case err == nil:
		of.AccessToken, of.RefreshToken, of.Expiry, of.Renewed, of.ClientRefused = token.AccessToken, token.RefreshToken, token.Expiry.UTC(), at, false
		if token.Expiry.IsZero() {
			of.Expiry = time.Time{}
		}
		if scopes, ok := token.Extra("scope").(string); ok && scopes != "" {
			of.Granted = strings.Fields(scopes)
		}
		return
	case isRefused && (refused.InvalidGrant() || refused.InvalidClient()):
		of.ClientRefused = refused.InvalidClient()
		if of.RefreshToken = ""; !of.good() || of.AccessToken == r.Refused {
			of.DropTokens()
		}
		done.Said = append(done.Said, fmt.Sprintf("%s (%v); run %s", r.failure(of), refused, r.Command))
		return
	}
	done.Failed.Text = r.failure(of) + ": " + said(err)
	if done.Failed.Passing = credential.IsPassing(err); done.Failed.Passing {
		done.Failed.Text += "; try again later"
	} else {
		done.Failed.Text += "; run " + r.Command + " to log in anew"
	}
	if isRefused {
		done.Failed.Wait = refused.Wait
	}
}

// failure says that a login is not renewed, and by whom.
func (r *renewal) failure(of *Record) string {
	text := "the login of " + r.Server + " is not renewed"
	if u, err := url.Parse(of.TokenEndpoint); err == nil {
		text += " by the authorization server at " + u.Scheme + "://" + u.Host
	}
	return text
}

// said returns what users read of an error.
func said(err error) string {
	if _, ok := errors.AsType[*url.Error](err); ok {
		text, _ := httpclient.Explain(err)
		return text
	}
	return sanitize.Cut(err.Error(), maxShown)
}

// A Guard says where requests to the authorization server of a server go; see [httpclient.Guard].
type Guard struct {
	Server string // its URL
	CAFile string
	Issuer string // the URL of one that the user names; "": none
}

// Named returns the hosts of authorization servers that the user names.
func (g Guard) Named() []string {
	if issuer, err := url.Parse(g.Issuer); err == nil && issuer.Hostname() != "" {
		return []string{issuer.Hostname()}
	}
	return nil
}

// Client returns a client for requests to the endpoints in a file, which a login has found.
func (g Guard) Client(ctx context.Context) (*http.Client, error) {
	server, err := url.Parse(g.Server)
	if err != nil {
		return nil, cli.Usage(errors.New("the url of the server cannot be read"), "correct it")
	}
	private := httpclient.Private(ctx, server.Hostname())
	return httpclient.NewGuarded(httpclient.Guard{HTTP: private || server.Scheme == "http", Private: private, Named: g.Named(), CAFile: g.CAFile})
}
