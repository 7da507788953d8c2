package logincmd

import (
	"context"
	"errors"
	"fmt"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/logins"
	"toolman/cmd/internal/signin"
	"toolman/mcpwire/sanitize"
)

// logout ends the login to a server.
func (c *command) logout(ctx context.Context, arg string) error {
	t, err := c.find(arg)
	if err != nil {
		return err
	}
	done, err := c.end(ctx, c.folder.File(t.key), &t.settings, t.settings.Name)
	if err == nil && !done {
		c.say(t.settings.Name + ": there is no login")
	}
	return err
}

// logoutAll ends all logins.
func (c *command) logoutAll(ctx context.Context) error {
	all, err := c.folder.All()
	if err != nil {
		return err
	}
	var failures []error
	ended := 0
	for _, f := range all {
		name := f.Path()
		if r, err := f.Load(); err == nil && r != nil {
			name = sanitize.Cut(r.Account, 200) + " at " + sanitize.Cut(hostOf(r.URL), 200)
		}
		done, err := c.end(ctx, f, nil, name)
		ended += btoi(done)
		if err != nil {
			failures = append(failures, err)
		}
	}
	if ended == 0 && failures == nil {
		c.say("there are no logins")
	}
	return errors.Join(failures...)
}

// end revokes the tokens in a file and removes it. done is false if there was no login in it.
func (c *command) end(ctx context.Context, f *logins.File, settings *signin.Server, name string) (done bool, err error) {
	r, err := f.Load()
	if err != nil {
		c.say(name + ": " + err.Error()) // it is removed all the same
	} else if r == nil {
		return false, nil
	}
	isLogin := r == nil || r.HasTokens() || r.Client.ID != "" // else it has what the server asks for
	what := "logged out"
	if r.HasTokens() {
		if settings == nil {
			settings = &signin.Server{URL: r.URL}
		}
		revoked, err := settings.Revoke(ctx, r, c.secrets.Add)
		switch {
		case err != nil:
			c.say(fmt.Sprintf("%s: the authorization server %s does not take the tokens back: %v; end the session on the page of the service", name, sanitize.Cut(r.Issuer, 200), err))
		case revoked:
			what = "logged out, and the tokens are revoked"
		default:
			what = "logged out; the authorization server cannot be told, and the tokens end by themselves"
		}
	}
	if err := f.Remove(ctx); err != nil {
		return false, cli.Failed(fmt.Errorf("%s: %w", name, err), "remove the file "+f.Path())
	}
	if isLogin {
		c.say(name + ": " + what)
	}
	return isLogin, nil
}
