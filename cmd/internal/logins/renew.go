package logins

import (
	"context"
	"fmt"
	"time"

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
	needed, refused, before := l.needsRenewalLocked() && l.record.AccessToken == used, l.refused, l.failed
	left := time.Until(l.paused)
	l.mu.Unlock()
	switch {
	case !needed:
		return nil
	case left > 0:
		return &streamhttp.Passing{Err: before, Wait: left}
	}
	done := l.carryOut(ctx, renewal{Path: l.file.path, Key: l.file.key, Server: l.o.Server, Command: l.o.Command, Guard: l.o.Guard, Used: used, Refused: refused})
	for _, text := range done.Said {
		l.o.Log(text)
	}
	r, err := l.file.Load()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.looked = time.Now()
	if done.answered() && done.Unsaved != "" { // the old refresh token may no longer work
		l.o.Log(fmt.Sprintf("the login of %s was renewed and cannot be saved; other programs may have to log in again: %s", l.o.Server, done.Unsaved))
		r, err, done.Unsaved = done.Asked, nil, ""
	}
	l.setLocked(r, err)
	if done.answered() && used == refused {
		l.renewed, l.refused = done.Asked.AccessToken, "" // it may be the same token
	}
	l.paused, l.failed = time.Time{}, done.err()
	if l.failed == nil {
		return nil
	}
	wait := done.Failed.Wait
	if l.record.HasTokens() && l.record.good() && l.record.AccessToken != l.refused {
		l.o.Log(l.failed.Error() + "; the present token is still good")
		l.paused = time.Now().Add(max(renewPause, min(wait, longestPause)))
		return nil
	}
	if done.Failed.Passing {
		l.paused = time.Now().Add(max(retryPause, min(wait, longestPause)))
		return &streamhttp.Passing{Err: l.failed, Wait: wait}
	}
	if done.Failed.Text != "" {
		l.wanted, l.refused = true, used
	}
	return l.failed
}

// Settle waits until no token is being renewed, or ctx ends. What the authorization server is about to
// issue may be lost with this process.
func (l *Login) Settle(ctx context.Context) {
	select {
	case l.turn <- struct{}{}:
		<-l.turn
	case <-ctx.Done():
	}
}
