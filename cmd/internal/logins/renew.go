package logins

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"toolman/mcpwire/httpclient"
	"toolman/mcpwire/sanitize"
	"toolman/mcpwire/streamhttp"
	"toolman/mcpwire/streamhttp/credential"
)

const (
	renewTime = 20 * time.Second // for the response of the authorization server
	lockTime  = time.Minute      // until other processes have renewed the token

	// Pauses after a failure.
	renewPause   = 10 * time.Second // at least, while the token is still good
	retryPause   = 500 * time.Millisecond
	longestPause = 5 * time.Minute
)

// good reports whether the access token has not expired.
func (r *Record) good() bool {
	return r.AccessToken != "" && (r.Expiry.IsZero() || time.Now().Before(r.Expiry))
}

// fresh reports whether the access token need not be renewed yet.
func (r *Record) fresh() bool {
	if !r.good() || r.Expiry.IsZero() {
		return r.good()
	}
	return time.Until(r.Expiry) > credential.Margin(r.Expiry.Sub(r.Renewed))
}

// renew renews the token unless it is no longer used, by this process or another one. The end of ctx
// ends the wait, and not the request: the new refresh token is issued only once.
func (l *Login) renew(ctx context.Context, used string) error {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	done := make(chan error, 1)
	go func() {
		defer func() { <-l.turn }()
		done <- l.renewInTurn(context.WithoutCancel(ctx), used)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// renewInTurn is renew for the only goroutine of this process that does so.
func (l *Login) renewInTurn(ctx context.Context, used string) error {
	l.mu.Lock()
	l.lookLocked(0)
	needed, refused, failed := l.needsRenewalLocked() && l.record.AccessToken == used, l.refused, l.failed
	left := time.Until(l.paused)
	l.mu.Unlock()
	switch {
	case !needed:
		return nil
	case left > 0:
		return &streamhttp.Passing{Err: failed, Wait: left}
	}
	failed = nil // of the request
	locking, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	var asked *Record // after the request
	err := l.file.Update(locking, func(r *Record) error {
		if r.AccessToken != used && r.fresh() || r.RefreshToken == "" {
			return nil // another process has renewed it, or has found that a login is wanted
		}
		failed = l.redeem(ctx, r, refused)
		asked = r
		return nil
	})
	r, loadErr := l.file.Load()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.looked = time.Now()
	switch {
	case asked != nil && err != nil && failed == nil: // the old refresh token may no longer work
		l.o.Log(fmt.Sprintf("the login of %s was renewed and cannot be saved; other programs may have to log in again: %v", l.o.Server, err))
		l.setLocked(asked, nil)
		err = nil
	default:
		l.setLocked(r, loadErr)
	}
	if asked != nil && failed == nil && used == refused {
		l.renewed, l.refused = asked.AccessToken, "" // it may be the same token
	}
	if err = errors.Join(err, failed); err == nil {
		l.paused, l.failed = time.Time{}, nil
		return nil
	}
	l.failed = err
	if l.record.HasTokens() && l.record.good() && l.record.AccessToken != l.refused {
		l.o.Log(err.Error() + "; the present token is still good")
		l.paused = time.Now().Add(max(renewPause, min(waitOf(failed), longestPause)))
		return nil
	}
	if credential.IsPassing(failed) {
		l.paused = time.Now().Add(max(retryPause, min(waitOf(failed), longestPause)))
		return &streamhttp.Passing{Err: err, Wait: waitOf(failed)}
	}
	if failed != nil {
		l.wanted, l.refused = true, used
	}
	return err
}

// Settle waits until no token is being renewed, or ctx ends. What the authorization server is about to
// issue would be lost with the process.
func (l *Login) Settle(ctx context.Context) {
	select {
	case l.turn <- struct{}{}:
		<-l.turn
	case <-ctx.Done():
	}
}

// waitOf returns how long the authorization server asks to wait.
func waitOf(err error) time.Duration {
	if refused, ok := errors.AsType[*credential.Refused](err); ok {
		return refused.Wait
	}
	return 0
}

// redeem asks the authorization server for new tokens and puts them into a record. If it will give
// none, redeem takes the refresh token out, and the access token if that is not good either.
func (l *Login) redeem(ctx context.Context, r *Record, refusedToken string) error {
	client, err := l.o.HTTP(ctx)
	if err != nil {
		return err
	}
	of := credential.OAuth{TokenURL: r.TokenEndpoint, ClientID: r.Client.ID, ClientSecret: r.Client.Secret, Method: r.Client.Method,
		Resource: r.Resource, HTTP: client, Secret: func(tokens ...string) { l.o.Secret(append(tokens, r.Client.Secret)...) }}
	defer client.CloseIdleConnections()
	at := time.Now().UTC().Round(0)
	token, err := of.Refresh(ctx, r.RefreshToken)
	refused, isRefused := errors.AsType[*credential.Refused](err)
	switch {
	case err == nil:
		r.AccessToken, r.RefreshToken, r.Expiry, r.Renewed, r.ClientRefused = token.AccessToken, token.RefreshToken, token.Expiry.UTC(), at, false
		if token.Expiry.IsZero() {
			r.Expiry = time.Time{}
		}
		if scopes, ok := token.Extra("scope").(string); ok && scopes != "" {
			r.Granted = strings.Fields(scopes)
		}
		return nil
	case isRefused && (refused.InvalidGrant() || refused.InvalidClient()):
		r.ClientRefused = refused.InvalidClient()
		if r.RefreshToken = ""; !r.good() || r.AccessToken == refusedToken {
			r.DropTokens()
		}
		l.o.Log(fmt.Sprintf("%s (%v); run %s", l.failure(r), refused, l.o.Command))
		return nil
	case credential.IsPassing(err):
		return fmt.Errorf("%s: %w; try again later", l.failure(r), said(err))
	}
	return fmt.Errorf("%s: %w; run %s to log in anew", l.failure(r), said(err), l.o.Command)
}

// failure says that a login is not renewed, and by whom.
func (l *Login) failure(r *Record) string {
	text := "the login of " + l.o.Server + " is not renewed"
	if u, err := url.Parse(r.TokenEndpoint); err == nil {
		text += " by the authorization server at " + u.Scheme + "://" + u.Host
	}
	return text
}

// said returns an error with words for users that still is the error of the request.
func said(err error) error {
	if _, ok := errors.AsType[*url.Error](err); ok {
		text, _ := httpclient.Explain(err)
		return &worded{text, err}
	}
	return &worded{sanitize.Cut(err.Error(), maxShown), err}
}

// A worded is an error with another text.
type worded struct {
	text string
	err  error
}

func (e *worded) Error() string { return e.text }
func (e *worded) Unwrap() error { return e.err }

// GuardedClient returns a function for Options.HTTP: requests go where [httpclient.Guard] allows it
// for the server at a URL. It is for the endpoints in a file, which a login has found.
func GuardedClient(server *url.URL, caFile string, named ...string) func(ctx context.Context) (*http.Client, error) {
	return func(ctx context.Context) (*http.Client, error) {
		private := httpclient.Private(ctx, server.Hostname())
		return httpclient.NewGuarded(httpclient.Guard{HTTP: private || server.Scheme == "http", Private: private, Named: named, CAFile: caFile})
	}
}
