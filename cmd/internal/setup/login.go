package setup

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config"
	"toolman/cmd/internal/logins"
	"toolman/cmd/internal/signin"
	"toolman/jsonrpc/trace/redact"
	"toolman/mcpwire/sanitize"
	"toolman/router/dial"
)

// LoginKey returns which login is for a server that takes one. agent is the agent that toolman works
// for, or "".
func LoginKey(s *config.Server, agent string) logins.Key {
	k := logins.Key{URL: s.Remote.URL, Account: s.Name}
	if o := s.Remote.OAuth; o != nil {
		k.Account = cmp.Or(o.Account, k.Account)
		if o.PerAgent {
			k.Agent = agent
		}
	}
	return k
}

// LoginCommand returns the command with which a person logs in to a server.
func LoginCommand(s *config.Server, agent string) string {
	name := s.Name
	if name == "" {
		name = logins.Canonical(s.Remote.URL)
	}
	command := "toolman login " + name
	if s.Remote.OAuth != nil && s.Remote.OAuth.PerAgent && agent != "" {
		command += " --agent " + agent
	}
	return command
}

// DescribeLogin returns where a server is logged in to, for what, how long and since when; "" if it
// is not.
func DescribeLogin(s *config.Server, agent string) string {
	if s.Remote == nil || !s.Remote.TakesLogin() {
		return ""
	}
	folder, err := logins.Open()
	if err != nil {
		return ""
	}
	r, err := folder.File(LoginKey(s, agent)).Load()
	if err != nil || !r.HasTokens() {
		return ""
	}
	return r.Describe() + ", since " + r.LoggedIn.Local().Format(time.DateTime)
}

// ShownName returns the name of a server for the user; without one, it is the host of its URL.
func ShownName(s *config.Server) string {
	if s.Name == "" && s.Remote != nil {
		return hostOf(s.Remote.URL)
	}
	return sanitize.Line(s.Name)
}

// hostOf returns the host of a URL for the user.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "its URL"
	}
	return sanitize.Cut(u.Host, 200)
}

// SigninServer returns what a login to a server needs of its configuration.
func SigninServer(s *config.Server) signin.Server {
	o := s.Remote.OAuth
	if o == nil {
		o = &config.OAuth{}
	}
	server := signin.Server{
		Name: ShownName(s), URL: s.Remote.URL, CAFile: s.Remote.CAFile, Header: s.Remote.Header.Clone(),
		ClientID: o.ClientID, ClientSecret: o.ClientSecret, ClientName: o.ClientName, Scopes: o.Scopes,
		Issuer: o.Issuer, RedirectURI: o.RedirectURI, Resource: o.Resource, AssumePKCE: o.AssumePKCE,
	}
	if server.Header == nil {
		server.Header = http.Header{}
	}
	server.Header.Set("User-Agent", cmp.Or(server.Header.Get("User-Agent"), UserAgent()))
	return server
}

// A login is the login of a server. What it reports goes to the log of the latest connection.
type login struct {
	*logins.Login
	options logins.Options
	server  signin.Server
	file    func() *logins.File
	settle  time.Duration // how long a connection that ends waits for a token that is being renewed
	secrets *redact.Scrubber
	log     atomic.Pointer[func(line string)]
}

// say writes to the log.
func (l *login) say(text string) {
	if log := l.log.Load(); log != nil {
		(*log)(text)
	}
}

// newLogin returns the login of a server, or nil if the server takes none or there is no place for
// logins. tokens hears of its tokens.
func newLogin(s *config.Server, agent string, tokens *tokens) (*login, error) {
	if s.Remote == nil || !s.Remote.TakesLogin() || s.ForEachAgent() && agent == "" {
		return nil, nil
	}
	folder, err := logins.Open()
	if err != nil {
		return nil, err
	}
	server, err := url.Parse(s.Remote.URL)
	if err != nil {
		return nil, err
	}
	l := &login{server: SigninServer(s), settle: settleTime, secrets: tokens.secrets, file: func() *logins.File { return folder.File(LoginKey(s, agent)) }}
	l.options = logins.Options{
		Server: "server " + cmp.Or(s.Name, server.Host), Command: LoginCommand(s, agent),
		Guard: l.server.Guard(), Secret: tokens.issued, Log: l.say}
	l.Login = logins.NewLogin(l.file(), l.options)
	return l, nil
}

// settleTime is login.settle, but for tests.
const settleTime = 2 * time.Second

// A loginConn is a connection to a server with a login.
type loginConn struct {
	dial.Conn
	login *login
}

// Stop implements [dial.Conn].
func (c *loginConn) Stop() {
	c.Conn.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), c.login.settle)
	defer cancel()
	c.login.Settle(ctx)
}

// unusable returns an error as the reason why a server cannot be used, with what to do.
func unusable(err error) string {
	text := err.Error()
	if hint := cli.Hint(err); hint != "" {
		text += "; " + hint
	}
	return text
}
