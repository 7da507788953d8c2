package setup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/logins"
	"toolman/cmd/internal/signin"
	"toolman/mcpwire/sanitize"
	"toolman/router/dial"
	"toolman/router/metatool"
)

// attemptTime is how long a person may take for a login that a client has begun.
const attemptTime = 5 * time.Minute

// An attempt is a login that a client has begun. The client opens the URL, and toolman opens
// nothing.
type attempt struct {
	server string        // its name and host
	asked  chan struct{} // closed when url is set
	url    string
	done   chan struct{} // closed when success and err are set
	stop   context.CancelCauseFunc

	success string
	err     error
}

// Begin implements [dial.Login].
func (l *login) Begin(ctx context.Context) dial.Attempt {
	ctx, stop := context.WithCancelCause(ctx)
	a := &attempt{server: l.server.Name + " (" + hostOf(l.server.URL) + ")", asked: make(chan struct{}), done: make(chan struct{}), stop: stop}
	secrets := &lent{secrets: l.secrets}
	own := l.options
	own.Secret = secrets.add
	f := &signin.Flow{
		Server: l.server, File: l.file(), Version: Version(), Timeout: attemptTime,
		Say: l.say, Secret: secrets.add,
		Print: func(at string) { a.url = at; close(a.asked) },
		Open:  func(string) error { <-ctx.Done(); return nil }, // the client does, and does not say when
	}
	f.Credential = logins.NewLogin(f.File, own) // it reads the file anew
	go func() {
		defer time.AfterFunc(lateOutput, secrets.back)
		defer stop(nil)
		defer close(a.done)
		if out, err := f.Run(ctx); err != nil {
			a.err = a.failure(err, own.Command)
		} else {
			a.success = a.outcome(out)
		}
	}()
	return a
}

// Ask implements [dial.Attempt].
func (a *attempt) Ask(ctx context.Context) (at, message string) {
	select {
	case <-a.asked:
	case <-a.done:
		return "", ""
	case <-ctx.Done():
		return "", ""
	}
	return a.url, fmt.Sprintf("toolman asks you to log in to server %s, at %s. If you have asked for that, open the URL in a browser on this machine, and log in there.", a.server, hostOf(a.url))
}

// Done implements [dial.Attempt].
func (a *attempt) Done() <-chan struct{} { return a.done }

// Stop implements [dial.Attempt].
func (a *attempt) Stop() { a.stop(signin.ErrDeclined) }

// Outcome implements [dial.Attempt].
func (a *attempt) Outcome() (success string, err error) { return a.success, a.err }

// outcome describes the end of a login that has not failed.
func (a *attempt) outcome(out signin.Outcome) string {
	switch {
	case out.State == signin.LoggedIn:
		return fmt.Sprintf("logged in to server %s, at %s; toolman connects to the server, and its items are there within seconds", a.server, hostOf(out.Record.Issuer))
	case out.State == signin.Already:
		return fmt.Sprintf("there is a login to server %s, at %s; use the server", a.server, hostOf(out.Record.Issuer))
	}
	return fmt.Sprintf("server %s wants no login; use it", a.server)
}

// failure describes why a login failed, and what to do.
func (a *attempt) failure(err error, command string) error {
	text := "no login to server " + a.server + ": " + err.Error()
	if hint := cli.Hint(err); hint != "" {
		text += "; " + hint
	}
	return errors.New(sanitize.Line(text + ". The command is " + command + "; " + metatool.LoginTool + " does the same"))
}
