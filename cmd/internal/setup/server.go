package setup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolman/jsonrpc/trace/redact"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config"
	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/config/table"
	"toolman/cmd/internal/store"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
	"toolman/mcpwire/httpclient"
	"toolman/mcpwire/streamhttp"
	"toolman/mcpwire/streamhttp/credential"
	"toolman/router/cache"
	"toolman/router/dial"
	"toolman/router/hook"
	"toolman/router/policy"
	"toolman/router/upstream"
	"toolman/spawn"
)

// newServer turns a server of a file into one of a router. agent is the agent of all requests; "": there
// is none, or each session has its own. tokens hears of the server's tokens.
func newServer(s config.Server, agent, file string, secrets *redact.Scrubber, tokens *tokens) upstream.Server {
	login, err := newLogin(&s, agent, tokens)
	server := upstream.Server{
		Fingerprint:  fingerprint(s),
		Name:         s.Name,
		Namespace:    s.Namespace,
		Unusable:     missing(s.Missing, file),
		Command:      spawn.Command{Argv: s.Argv, Env: environ(s.Inherits, s.Env), Dir: s.Dir},
		Socket:       s.Socket,
		Dial:         dialer(&s, login, tokens),
		ForSession:   forSession(s, agent, file, secrets),
		StartTimeout: s.StartTimeout,
		StartLimit:   s.StartLimit,
		CallTimeout:  s.CallTimeout,
		MaxCalls:     maxCalls(&s),
		MaxCallsAt:   maxCallsAt(&s, file),
		Era:          mcpwire.ParseEra(s.Era),
		Share:        dial.ParseShare(s.Share),
		Stateless:    s.Stateless,
		Restart:      dial.ParseRestart(s.Restart),
		FrameLimit:   s.MaxMessageBytes,
		Cache:        cacheRules(s.Cache),
		Lazy:         s.Lazy,
	}
	if login != nil {
		server.Login = login
	}
	if err != nil && server.Unusable == "" {
		server.Unusable = unusable(err)
	}
	return server
}

// missing says what a server of the file refers to that is not there; "" if nothing is missing.
func missing(all []source.Problem, file string) string {
	var texts []string
	for _, p := range all {
		p.File = file
		texts = append(texts, p.String())
	}
	return strings.Join(texts, "; ")
}

// cacheRules returns the rules of a server whose patterns package config has checked.
func cacheRules(of []table.Timed) (rules []cache.Rule) {
	for _, c := range of {
		if rule, err := cache.NewRule(c.Key, c.For); err == nil {
			rules = append(rules, rule)
		}
	}
	return rules
}

// fingerprint returns the same text for servers with equal configuration, wherever they stand in
// the file, whatever is said about them and whatever other servers refer to.
func fingerprint(s config.Server) string {
	s.Line, s.MaxCallsLine, s.Referred, s.Description, s.ReadOnlyTools = 0, 0, nil, "", nil
	return fmt.Sprintf("%x", sha256.Sum256(cli.JSON(s)))
}

// readOnly returns the tools that the configuration says only read.
func readOnly(c *config.Config) (*policy.Declared, error) {
	rules := policy.ReadOnlyRules{File: filepath.Base(c.Path), Tools: map[string]policy.List{}}
	for _, s := range Enabled(c) {
		if len(s.ReadOnlyTools) > 0 {
			all := rules.Tools[s.Name]
			rules.Tools[s.Name] = policy.List{Entries: append(all.Entries, s.ReadOnlyTools...)}
		}
	}
	return rules.Compile()
}

// environ returns the environment of a process: what it inherits, and its own.
func environ(inherits func(name string) bool, own []string) []string {
	inherited := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return !inherits(name)
	})
	return spawn.Environ(inherited, own)
}

// hookOf returns the command of a key of the file at path, or nil. It runs in the file's folder.
func hookOf(h *config.Hook, key, path string) *hook.Command {
	if h == nil {
		return nil
	}
	return &hook.Command{Name: key, Command: spawn.Command{Argv: h.Argv, Env: environ(h.Inherits, h.Env), Dir: filepath.Dir(path)}}
}

const (
	remoteCalls    = 256 // concurrent calls of a server at a url, by default
	remoteRequests = 256 // other concurrent requests of such a server
)

// maxCalls returns how many concurrent calls a server gets; 0 is no limit.
func maxCalls(s *config.Server) int {
	if s.Remote != nil {
		return cmp.Or(s.MaxCalls, remoteCalls)
	}
	return s.MaxCalls
}

// maxCallsAt returns where maxCalls is configured.
func maxCallsAt(s *config.Server, file string) string {
	if s.MaxCalls == 0 {
		return "the default for a url"
	}
	return fmt.Sprintf("%s:%d", file, s.MaxCallsLine)
}

// dialer returns a function that connects to a server over HTTP, or nil for other servers. login may
// be nil.
func dialer(s *config.Server, login *login, tokens *tokens) func(log func(line string)) (dial.Conn, error) {
	if s.Remote == nil {
		return nil
	}
	return func(log func(line string)) (dial.Conn, error) {
		o := streamhttp.Options{URL: s.Remote.URL, Header: s.Remote.Header.Clone(), CAFile: s.Remote.CAFile, FrameLimit: s.MaxMessageBytes,
			Parallel: maxCalls(s) + remoteRequests}
		if o.Header.Get("User-Agent") == "" {
			o.Header.Set("User-Agent", UserAgent())
		}
		var err error
		if login != nil {
			login.log.Store(&log)
			o.Credential = login
		} else if o.Credential, err = credentialOf(s.Remote, tokens); err != nil {
			return nil, err
		}
		conn, err := dial.HTTP(o, log)
		if err == nil && login != nil {
			conn = &loginConn{conn, login}
		}
		return conn, err
	}
}

// UserAgent returns the User-Agent header of toolman's own requests.
func UserAgent() string { return "toolman/" + strings.Fields(Version())[0] }

// credentialOf returns the source of the tokens that a server without a login requires, or nil.
func credentialOf(r *config.Remote, tokens *tokens) (streamhttp.Credential, error) {
	if r.OAuth == nil || r.OAuth.TokenURL == "" && r.OAuth.TokenFile == "" {
		return nil, nil
	}
	client, err := httpclient.New(r.CAFile)
	if err != nil {
		return nil, err
	}
	of := credential.OAuth{TokenURL: r.OAuth.TokenURL, ClientID: r.OAuth.ClientID, ClientSecret: r.OAuth.ClientSecret,
		Scopes: r.OAuth.Scopes, HTTP: client, Secret: tokens.issued,
		Lock: func(ctx context.Context, path string) (unlock func(), err error) { return store.Lock(ctx, path, 0o600) }}
	if u, err := url.Parse(r.URL); err == nil {
		of.Resource = httpclient.Shown(u)
	}
	if r.OAuth.Resource != nil {
		of.Resource = *r.OAuth.Resource
	}
	if r.OAuth.TokenFile != "" {
		return credential.NewTokenFile(r.OAuth.TokenFile, of), nil
	}
	return credential.NewClientCredentials(of), nil
}

// TraceServers describes the enabled servers for the trace.
func TraceServers(c *config.Config) []trace.Server {
	var all []trace.Server
	for _, s := range Enabled(c) {
		command := strings.Join(s.Argv, " ")
		if s.Socket != "" {
			command = "socket " + s.Socket
		} else if s.Remote != nil {
			command = ""
			if u, err := url.Parse(s.Remote.URL); err == nil {
				command = httpclient.Shown(u)
			}
		}
		all = append(all, trace.Server{Name: s.Namespace, Command: command})
	}
	return all
}

// lateOutput is how long after the end of a session's servers their output may still reach the
// log and the trace.
const lateOutput = time.Minute

// errNoAgent is why a session goes without a server with per_agent.
var errNoAgent = errors.New("each agent has a login of its own to it (per_agent in its oauth), and this client is no agent; " +
	"give it a credential of an agent, or toolman the flag --agent")

// forSession returns a function that makes the server of one session from the session's agent and
// values, or nil for a server that is the same for all sessions. The values are secrets as long as
// the server knows them.
func forSession(s config.Server, agent, file string, secrets *redact.Scrubber) func(of string, values map[string]string) (upstream.Server, error) {
	if !s.ForEachSession() && (!s.ForEachAgent() || agent != "") {
		return nil
	}
	return func(of string, values map[string]string) (upstream.Server, error) {
		if of = cmp.Or(agent, of); of == "" && s.ForEachAgent() {
			return upstream.Server{}, errNoAgent
		}
		back, tokens := secrets.Lend(slices.Collect(maps.Values(values))...), &tokens{secrets: secrets}
		over := func() { time.AfterFunc(lateOutput, func() { back(); tokens.end() }) }
		own, err := s.In(values)
		if err != nil {
			over()
			return upstream.Server{}, err
		}
		server := newServer(own, of, file, secrets, tokens)
		server.Release = over
		return server, nil
	}
}
