package logins

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"toolman/mcpwire/httpheader"
	"toolman/mcpwire/sanitize"
	"toolman/mcpwire/streamhttp"
)

const (
	lookEvery = time.Second      // between two looks at the file for requests
	waitEvery = time.Second      // between two looks of Wait
	noteTime  = 2 * time.Second  // for writing down what a server asks for
	onceTime  = 10 * time.Second // in which a token that came after a 401 is not renewed after another one
	maxShown  = 200
)

// Options are what a Login needs besides its file.
type Options struct {
	Server  string                 // its name, for messages
	Command string                 // with which a person logs in, such as "toolman login linear"
	Guard   Guard                  // of requests to the authorization server
	Secret  func(values ...string) // hears of tokens and secrets before they are used; may be nil
	Log     func(text string)      // gets information for users; may be nil

	program string                                          // that renews tokens; "": toolman
	client  func(ctx context.Context) (*http.Client, error) // in place of that of Guard, in this process; nil: none
}

// A Login is the [streamhttp.Credential] of a server that may want a login. It sends requests with
// the token of a file if there is one, renews the token before its end, and knows whether a person
// has to log in. All connections to the server share it. It opens nothing and asks nobody.
type Login struct {
	file *File
	o    Options
	turn chan struct{} // has an element while the token is renewed

	mu      sync.Mutex
	record  *Record       // guarded by mu: nil: there is none
	err     error         // guarded by mu: why the file cannot be used
	looked  time.Time     // guarded by mu: when the file was last looked at
	paused  time.Time     // guarded by mu: until then the authorization server is not asked
	failed  error         // guarded by mu: why
	refused string        // guarded by mu: the access token that the server has last refused
	renewed string        // guarded by mu: the access token that came after it did so; one more refusal, and a person has to log in
	wanted  bool          // guarded by mu: a login would help
	unclear bool          // guarded by mu: the server has not said that it takes logins
	more    *time.Time    // guarded by mu: when the login was made that has too few scopes; nil: it has not
	changed chan struct{} // guarded by mu: closed when record or err change
}

// NewLogin returns a login that has not read its file yet.
func NewLogin(file *File, o Options) *Login {
	if o.Secret == nil {
		o.Secret = func(...string) {}
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	own := &File{key: file.key, folder: file.folder, path: file.path} // so that it notices changes by others with this file
	return &Login{file: own, o: o, turn: make(chan struct{}, 1), changed: make(chan struct{})}
}

// Wanted implements dial.Login: texts about a login that is wanted name the command.
func (l *Login) Wanted(problem string) (command, what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !l.wanted || !strings.Contains(problem, l.o.Command):
		return "", ""
	case l.unclear:
		return l.o.Command, l.orHeaders()
	}
	return l.o.Command, "needs a login, which a person makes: run " + l.o.Command
}

// orHeaders says what a server may need that does not say that it takes logins.
func (l *Login) orHeaders() string {
	return "requires credentials, or has rejected them (401 Unauthorized); give them in headers, or, if the server takes logins, a person runs " + l.o.Command
}

// Wait implements dial.Login: it returns true when there is another login than the one that the
// server has refused.
func (l *Login) Wait(ctx context.Context, stopped <-chan struct{}) bool {
	tick := time.NewTicker(waitEvery)
	defer tick.Stop()
	for {
		l.mu.Lock()
		l.lookLocked(0)
		wanted, changed := l.wanted, l.changed
		l.mu.Unlock()
		if !wanted {
			return true
		}
		select {
		case <-tick.C:
		case <-changed:
		case <-stopped:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// lookLocked reads the file if it has changed, unless it was looked at just now.
func (l *Login) lookLocked(every time.Duration) {
	now := time.Now()
	if !l.looked.IsZero() && every > 0 && now.Sub(l.looked) < every && !now.Before(l.looked) {
		return
	}
	first := l.looked.IsZero()
	l.looked = now
	if !first && !l.file.Changed() {
		return
	}
	before := l.file.Warning()
	r, err := l.file.Load()
	if warning := l.file.Warning(); warning != before {
		l.o.Log(warning)
	}
	l.setLocked(r, err)
}

// setLocked sets the record.
func (l *Login) setLocked(r *Record, err error) {
	l.record, l.err = r, err
	if r.HasTokens() {
		l.o.Secret(r.AccessToken, r.RefreshToken, r.Client.Secret)
		if r.AccessToken != l.refused && (l.more == nil || !r.LoggedIn.Equal(*l.more)) {
			l.wanted, l.refused, l.more = false, "", nil
		}
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

// Authorize implements [streamhttp.Credential]. Without a login it sets nothing.
func (l *Login) Authorize(ctx context.Context, h http.Header) error {
	for renewed := false; ; renewed = true {
		l.mu.Lock()
		l.lookLocked(lookEvery)
		r, err, wait := l.record, l.err, l.needsRenewalLocked()
		l.mu.Unlock()
		switch {
		case err != nil:
			return fmt.Errorf("%w, with %s", err, l.o.Command)
		case !r.HasTokens():
			return nil
		case !wait || renewed && l.isGood(r):
			h.Set("Authorization", "Bearer "+r.AccessToken)
			return nil
		case renewed:
			return &streamhttp.Passing{Err: errors.New("the login could not be renewed; try again")}
		}
		if err := l.renew(ctx, r.AccessToken); err != nil {
			return err
		}
	}
}

// needsRenewalLocked reports whether the token is to be renewed before it is used. One that cannot
// be renewed is used until the server refuses it.
func (l *Login) needsRenewalLocked() bool {
	r := l.record
	if !r.HasTokens() || r.RefreshToken == "" {
		return false
	}
	if r.AccessToken == "" || r.AccessToken == l.refused {
		return true
	}
	return !r.fresh() && !(r.good() && l.isPausedLocked())
}

// isPausedLocked reports whether the authorization server is left alone for a while.
func (l *Login) isPausedLocked() bool { return time.Now().Before(l.paused) }

// isGood reports whether the token of a record can be used.
func (l *Login) isGood(r *Record) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return r.good() && r.AccessToken != l.refused || r.RefreshToken == "" && r.AccessToken != ""
}

// Refused implements [streamhttp.Credential].
func (l *Login) Refused(sent http.Header, resp *http.Response) streamhttp.Verdict {
	challenge, isBearer := httpheader.Bearer(httpheader.Challenges(resp.Header))
	token, hadToken := strings.CutPrefix(sent.Get("Authorization"), "Bearer ")
	scopes := strings.Fields(challenge.Params["scope"])
	insufficient := challenge.Params["error"] == "insufficient_scope"
	switch {
	case resp.StatusCode == http.StatusForbidden && insufficient:
		return l.tooFewScopes(challenge, scopes)
	case resp.StatusCode == http.StatusForbidden && (hadToken || !isBearer):
		return streamhttp.Verdict{}
	}
	l.mu.Lock()
	l.lookLocked(0)
	r := l.record
	switch {
	case hadToken && r.HasTokens() && r.AccessToken != token:
		l.mu.Unlock()
		return streamhttp.Verdict{Again: true} // somebody has renewed it, or logged in
	case !hadToken && r.HasTokens() && l.refused == "":
		l.mu.Unlock()
		return streamhttp.Verdict{Again: true} // since the request was sent
	case hadToken && r.HasTokens() && r.RefreshToken != "" && !(token == l.renewed && r.good() && time.Since(r.Renewed) < onceTime):
		l.refused = token
		l.mu.Unlock()
		return streamhttp.Verdict{Again: true, Text: l.sentence()}
	}
	l.refused, l.wanted, l.unclear = token, true, !isBearer
	l.mu.Unlock()
	if isBearer {
		l.note(func(r *Record, at time.Time) { r.noteRefusal(challenge, scopes, at) })
		return streamhttp.Verdict{Text: l.sentence(), Ended: true}
	}
	return streamhttp.Verdict{Ended: true, Text: "the server " + l.orHeaders() + "; nothing was carried out"}
}

// sentence says that a login is needed.
func (l *Login) sentence() string {
	return fmt.Sprintf("%s needs a login (401 Unauthorized), which a person makes: run %s; nothing was carried out", l.o.Server, l.o.Command)
}

// tooFewScopes writes down the scopes that a server asks for, and says what helps.
func (l *Login) tooFewScopes(challenge httpheader.Challenge, scopes []string) streamhttp.Verdict {
	named := sanitize.Cut(strings.Join(scopes, " "), maxShown)
	l.mu.Lock()
	l.lookLocked(0)
	asked := l.record != nil && !slices.ContainsFunc(scopes, func(s string) bool { return !slices.Contains(l.record.Asked, s) })
	if !asked && len(scopes) > 0 {
		since := time.Time{}
		if l.record != nil {
			since = l.record.LoggedIn
		}
		l.wanted, l.more = true, &since
	}
	l.mu.Unlock()
	l.note(func(r *Record, at time.Time) {
		r.noteRefusal(challenge, nil, at)
		r.AddScopes(scopes, at)
	})
	switch {
	case len(scopes) == 0:
		return streamhttp.Verdict{Text: "the server denies access (403 Forbidden, insufficient_scope) and does not say which scopes it wants; see its documentation, and write them as scopes of oauth; nothing was carried out"}
	case asked:
		return streamhttp.Verdict{Text: fmt.Sprintf("the server denies access (403 Forbidden): it asks for the scopes %q, which the last login has asked for already; the authorization server does not grant them, or the server does not recognize them; ask its operator; nothing was carried out", named)}
	}
	return streamhttp.Verdict{Text: fmt.Sprintf("%s needs a login with more rights (403 Forbidden, scopes %q), which a person makes: run %s; nothing was carried out", l.o.Server, named, l.o.Command)}
}

// note changes the record without waiting long, if there is anything to change. A change that cannot
// be saved is logged: the next login asks the server itself.
func (l *Login) note(change func(r *Record, at time.Time)) {
	at := time.Now().UTC().Round(0)
	r, err := l.file.Load()
	if err != nil || r == nil || r.differs(func() { change(r, at) }) {
		ctx, cancel := context.WithTimeout(context.Background(), noteTime)
		defer cancel()
		err = l.file.Update(ctx, func(r *Record) error {
			change(r, at)
			return nil
		})
		if err != nil {
			l.o.Log("what " + l.o.Server + " asks for is not kept: " + err.Error())
		}
		r, err = l.file.Load() // it may have changed otherwise, too
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.setLocked(r, err)
}

// differs reports whether the record is another one after f.
func (r *Record) differs(f func()) bool {
	before, _ := r.render()
	f()
	after, err := r.render()
	return err != nil || !bytes.Equal(before, after)
}

// noteRefusal records a challenge. What it asks for first is kept: the next login asks the server
// again.
func (r *Record) noteRefusal(c httpheader.Challenge, scopes []string, at time.Time) {
	now := Challenge{scopes, cut(c.Params["resource_metadata"]), cut(c.Params["error"]), at}
	if old := r.Challenge; old != nil {
		if len(old.Scopes) > 0 {
			now.Scopes = old.Scopes
		}
		if now.Metadata == old.Metadata && now.Error == old.Error && slices.Equal(now.Scopes, old.Scopes) {
			return
		}
	}
	r.Challenge = &now
}

// cut bounds what a file keeps of a server's text.
func cut(text string) string { return text[:min(len(text), 2<<10)] }
