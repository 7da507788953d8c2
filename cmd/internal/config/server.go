package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"time"

	"toolman/cmd/internal/config/byname"
	"toolman/cmd/internal/config/reference"
	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/config/table"
	"toolman/mcpwire/sanitize"
	"toolman/router/policy"
)

// A Server is one upstream server.
type Server struct {
	Namespace string   // may be "", and the same as another server's
	Name      string   // what policies call it: name, or else the namespace; "" without either
	Command   string   // as written, references not replaced
	Args      []string // args, as written; nil: not given, and Command is a command line
	Argv      []string // what to execute; the last word of a shell command is expanded by that shell
	// Env is what the server's environment has besides what it inherits (see [Server.Inherits]), as
	// KEY=VALUE; a later one wins.
	Env             []string
	InheritEnv      []string                 // inherit_env: names and globs; nil: not given
	Refers          reference.Variables      // what its table refers to
	Referred        reference.Variables      // what any table refers to, or http; the same for all servers
	SessionEnv      []reference.SessionValue // variables that are different in each session
	Dir             string                   // absolute; "" is toolman's own working directory
	Remote          *Remote                  // how it is reached over HTTP, or nil
	Socket          string                   // the Unix socket that it listens on, absolute, or ""
	StartTimeout    time.Duration            // always positive
	StartLimit      time.Duration            // how long it may take to start; 0: six times StartTimeout
	CallTimeout     time.Duration            // 0: none
	MaxCalls        int                      // max_concurrent_calls; 0: no limit
	MaxCallsLine    int                      // where that is in the file; 0: nowhere
	Era             string                   // "auto", "legacy" or "modern"
	Share           string                   // "auto", "always" or "never"
	Stateless       bool                     // its processes remember nothing of a client; a server at a url does not unless the file says so
	Restart         string                   // "never", "on-failure" or "always"
	MaxMessageBytes int
	Cache           []table.Timed // cache: how long results of tools are kept, by names and globs
	Uncached        bool          // what it offers is not kept in the catalog cache
	Lazy            bool          // it starts when it is first needed, if the catalog cache knows its items
	Description     string
	ReadOnlyTools   []policy.Entry // read_only_tools: names and globs of its own tools
	Enabled         bool           // a server that is not enabled has no Argv, Env, Dir, Remote or Socket
	// Missing says which variables and files its strings refer to that are not there. If there are
	// any, the server is otherwise as one that is not enabled.
	Missing []source.Problem
	Line    int // where it begins in the file
}

const (
	leastMessageBytes = 1 << 10
	mostMessageBytes  = 1 << 30

	// servedCallTimeout is the default of call_timeout over HTTP, where many clients share a server
	// and no call may keep its place for ever.
	servedCallTimeout = 5 * time.Minute

	exampleCommand = `"npx -y some-mcp-server"`
	exampleArgs    = `["-y", "some-mcp-server"]`
	exampleURL     = `"https://mcp.example.com/mcp"`
	exampleSocket  = `"/run/mcp.sock"`
)

// serverKeys are the keys of a server.
func serverKeys() []string {
	return append([]string{"namespace", "name", "command", "args", "env", "cwd", "start_timeout", "call_timeout", "max_concurrent_calls", "max_message_bytes", "cache", "lazy",
		"restart", "era", "share", "stateless", "enabled", "url", "headers", "ca_file", "oauth", "socket", "inherit_env", "type", "description", "disabled", "read_only_tools"}, byname.ClientKeys()...)
}

// downloadLimit is how long a command may take to start whose start_timeout is not set: npx and uvx
// download packages first, and several at once are slow.
const downloadLimit = 3 * time.Minute

// server decodes one element of servers.
func (d *decoder) server(n source.Node) Server {
	t := table.New(d.Problems, n, "in a server", serverKeys()...)
	callTimeout, restarts := time.Duration(0), []string{"never", "on-failure", "always"}
	if d.options.HTTP {
		callTimeout, restarts = servedCallTimeout, []string{"on-failure", "never", "always"}
	}
	s := Server{
		Line:            n.Line,
		Namespace:       namespace(t),
		Name:            serverName(t),
		Command:         t.Filled("command", exampleCommand, t.Instead("command", exampleCommand)+", or "+t.Write("enabled", "false")),
		InheritEnv:      d.inheritEnv(t),
		StartTimeout:    t.Duration("start_timeout", 10*time.Second, time.Millisecond),
		CallTimeout:     t.Duration("call_timeout", callTimeout, 0),
		MaxCalls:        int(t.Int("max_concurrent_calls", 0, 0, 100_000)),
		MaxCallsLine:    t.LineOf("max_concurrent_calls"),
		Era:             t.Choice("era", "auto", "legacy", "modern"),
		Share:           t.Choice("share", "auto", "always", "never"),
		Stateless:       t.Bool("stateless", t.Has("url")),
		Restart:         t.Choice("restart", restarts...),
		MaxMessageBytes: int(t.Int("max_message_bytes", 32<<20, leastMessageBytes, mostMessageBytes)),
		Uncached:        d.uncached(t),
		Lazy:            t.Bool("lazy", false),
		Description:     description(t),
		ReadOnlyTools:   t.Globs("read_only_tools", `["get_*"]`),
		Enabled:         byname.Enabled(t),
	}
	if t.Has("command") && !t.Has("start_timeout") {
		s.StartLimit = downloadLimit
	}
	if _, isBool := t.At("cache").Value.(bool); !isBool {
		s.Cache = t.Durations("cache", `{ "get_*" = "60s" }`, time.Second, table.Glob("cache"))
	}
	if s.Lazy && s.Uncached {
		t.FailAt("lazy", "take lazy out, or cache = false", "a lazy server needs the catalog cache, and cache = false turns it off")
	}
	checkTransport(t)
	byname.CheckType(t)
	byname.NoteClientKeys(t)
	args := t.Strings("args", exampleArgs, func(string) (problem, hint string) { return "", "" })
	if s.Args = table.Texts(args); t.Has("args") && s.Args == nil {
		s.Args = []string{}
	}
	vars := env(t)
	cwd := t.Filled("cwd", `"sub/folder"`, "name a folder, or leave it out for the one toolman is started in")
	socket := t.Filled("socket", exampleSocket, t.Instead("socket", exampleSocket))
	used := s.Enabled && !d.options.KeepReferences
	s.Missing = d.Part(func() {
		s.Remote = d.remote(t, used)
		if !used {
			return
		}
		d.expandProcess(&s, t, args, vars, cwd)
		if socket != "" {
			s.Socket = d.socket(t, socket)
		}
	})
	if (s.ForEachSession() || s.ForEachAgent()) && s.Share == "always" {
		t.FailAt("share", "take share out", "the server has something else for each session: it cannot be shared")
	}
	if (s.ForEachSession() || s.ForEachAgent()) && s.Lazy {
		t.FailAt("lazy", "take lazy out", "the server has something else for each session: it starts with the session")
	}
	if s.Missing != nil { // what there is of these is not whole
		s.Argv, s.Env, s.SessionEnv, s.Dir, s.Remote, s.Socket = nil, nil, nil, "", nil, ""
	}
	return s
}

// uncached reports whether cache is false for a server or for all.
func (d *decoder) uncached(t table.Table) bool {
	own, isBool := t.At("cache").Value.(bool)
	return d.allUncached || isBool && !own
}

// expandProcess fills in Env, Dir and Argv.
func (d *decoder) expandProcess(s *Server, t table.Table, args []policy.Entry, vars []source.Member, cwd string) {
	env, ofSession := map[string]string{}, map[string]bool{}
	s.SessionEnv = d.expanded("env", vars, func(_ reference.Scope, name, value string) {
		d.Named(name, value)
		env[name] = value
		s.Env = append(s.Env, name+"="+value)
	})
	for _, v := range s.SessionEnv {
		ofSession[v.Name] = true
	}
	if cwd != "" {
		s.Dir = d.scope(t, "cwd", "cwd").Path(cwd, "name a folder, or leave it out")
	}
	if s.Command != "" {
		sc := d.scope(t, "command", "command")
		sc.Env, sc.SessionEnv, sc.Inherits = env, ofSession, s.Inherits
		if s.Args != nil {
			s.Argv = sc.Program(s.Command)
			for _, a := range args {
				sc.Key, sc.Line = "args", a.Line
				s.Argv = append(s.Argv, sc.Expand(a.Text))
			}
			return
		}
		argv, assigned := sc.Command(s.Command)
		s.Argv, s.Env = argv, append(s.Env, assigned...)
	}
}

// socket returns the path of a Unix socket with its references replaced, made absolute.
func (d *decoder) socket(t table.Table, written string) string {
	const longest = len(syscall.RawSockaddrUnix{}.Path) - 1 // a zero follows
	sc := d.scope(t, "socket", "socket")
	path := sc.Path(written, "name a socket")
	if len(path) > longest {
		sc.Fail("choose a shorter one", "the path has %d bytes, which is more than that of a Unix socket can have", len(path))
	}
	return path
}

func namespace(t table.Table) string {
	s, ok := t.Text("namespace", `"fs"`)
	if !t.Has("namespace") {
		t.Fail(t.Line, t.Instead("namespace", `"fs"`)+", or "+t.Write("namespace", `""`)+" to use the server's names as they are", "this server has no namespace")
	}
	if ok && s != "" && !byname.IsNamespace(s) {
		t.Outside("namespace", byname.NamespaceHint)
	}
	return s
}

// serverName returns what policies call the server.
func serverName(t table.Table) string {
	s, ok := t.Text("name", `"github"`)
	if !ok {
		s, _ = t.At("namespace").Value.(string)
	} else if !byname.IsNamespace(s) {
		t.Outside("name", byname.NamespaceHint)
	}
	return s
}

// maxDescription bounds the description of a server.
const maxDescription = 4 << 10

func description(t table.Table) string {
	text, _ := t.Text("description", `"…"`)
	if len(text) > maxDescription {
		t.FailAt("description", fmt.Sprintf("write up to %d bytes", maxDescription), "the description is too long")
	}
	return text
}

// env returns the env table, with values as written.
func env(t table.Table) []source.Member {
	return t.StringMembers("env", "{"+t.Write("NAME", `"value"`)+"}", func(m source.Member) bool {
		_, isText := m.Value.(string)
		switch {
		case m.Key == "" || strings.ContainsAny(m.Key, "=\x00"):
			t.Fail(m.Line, "name a variable", "env holds the key %s, which no variable can have", source.Shown(m.Key))
		case !isText && slices.Contains(serverKeys(), m.Key) && t.Format == "toml":
			t.Fail(m.Line, "write it above [servers.env] if it is about the server", "%s is %s where a string is expected", sanitize.Line("env."+m.Key), m.Kind())
		default:
			return true
		}
		return false
	})
}

// A transport is a way to reach a server: its key, of which a server has exactly one, and further
// keys that belong to it.
type transport struct {
	key     string
	others  []string
	example string
}

func transports() []transport {
	return []transport{
		{"command", []string{"args", "env", "cwd", "inherit_env"}, exampleCommand},
		{"url", []string{"headers", "ca_file", "oauth"}, exampleURL},
		{"socket", nil, exampleSocket},
	}
}

// checkTransport adds a problem with a server that has no transport, several, or keys of another.
func checkTransport(t table.Table) {
	var given, keys, examples []string
	for _, w := range transports() {
		keys, examples = append(keys, w.key), append(examples, t.Write(w.key, w.example))
		if t.Has(w.key) {
			given = append(given, w.key)
		}
	}
	switch last := len(given) - 1; {
	case last < 0:
		t.Fail(t.Line, "write "+strings.Join(examples, " or "), "this server has neither %s", strings.Join(keys, " nor "))
	case last > 0:
		t.FailAt(given[last], "give the server one of them", "this server has a %s and a %s", strings.Join(given[:last], ", a "), given[last])
	default:
		for _, w := range transports() {
			for _, key := range w.others {
				if w.key != given[0] && t.Has(key) {
					t.FailAt(key, "take it out", "%s is for a server with a %s, and this one has a %s", key, w.key, given[0])
				}
			}
		}
	}
}

// reserved begins the names of toolman's own variables. Servers inherit guardVariable alone: with
// it a toolman that runs this one finds them.
const (
	reserved      = "TOOLMAN_"
	guardVariable = reserved + "GUARD"
)

// Inherits reports whether the server's process inherits a variable from toolman's environment. Env
// is added to these.
func (s *Server) Inherits(name string) bool {
	name = reference.VariableName(name)
	named := func(pattern string) bool { return reference.VariableName(pattern) == name }
	matched := func(pattern string) bool {
		return policy.Entry{Text: reference.VariableName(pattern)}.Matches(name)
	}
	switch {
	case strings.HasPrefix(name, reserved):
		return name == guardVariable
	case slices.ContainsFunc(s.InheritEnv, named):
		return true
	case s.Referred[name] && !s.Refers[name] && !reference.Ordinary(name):
		return false
	}
	return s.InheritEnv == nil || slices.ContainsFunc(s.InheritEnv, matched)
}

// inheritEnv reads inherit_env; nil if it is not given.
func (d *decoder) inheritEnv(t table.Table) []string {
	const key = "inherit_env"
	all := []string{}
	for _, e := range t.Globs(key, `["PATH", "HOME"]`) {
		switch name := reference.VariableName(e.Text); {
		case strings.ContainsAny(e.Text, "=\x00"):
			d.Fail(e.Line, "name the variable alone; a value belongs in env", "inherit_env holds a name that no variable can have")
		case name != guardVariable && strings.HasPrefix(name, reserved):
			d.Fail(e.Line, "take it out, or set a variable of another name in env", "inherit_env holds %s: servers get none of toolman's own variables", source.Shown(e.Text))
		case d.ofHTTP[name]:
			d.Fail(e.Line, "take it out", "inherit_env holds %s, which http or cluster refers to: servers do not get toolman's own secrets", source.Shown(e.Text))
		}
		all = append(all, e.Text)
	}
	if !t.Has(key) {
		return nil
	}
	return all
}

// withholdEnv reads withhold_env.
func withholdEnv(t table.Table) []string {
	const key = "withhold_env"
	return table.Texts(t.Strings(key, `["API_TOKEN"]`, func(name string) (problem, hint string) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return key + " holds " + source.Shown(name) + ", which no variable can be called", "name the variable alone"
		}
		return "", ""
	}))
}

// noteReferences fills in Refers and Referred. nodes are the servers' tables. withheld are
// variables that count as referred to.
func noteReferences(servers []Server, nodes []source.Node, ofHTTP reference.Variables, withheld []string) {
	all := maps.Clone(ofHTTP)
	for _, name := range withheld {
		all[reference.VariableName(name)] = true
	}
	for i, n := range nodes {
		servers[i].Refers, servers[i].Referred = reference.VariablesIn(n), all
		maps.Copy(all, servers[i].Refers)
	}
}

// ForEachSession reports whether each session has its own process of the server, or its own
// connection to it.
func (s *Server) ForEachSession() bool {
	return len(s.SessionEnv) > 0 || s.Remote != nil && len(s.Remote.SessionHeader) > 0
}

// ForEachAgent reports whether each agent has its own login to the server.
func (s *Server) ForEachAgent() bool {
	return s.Remote != nil && s.Remote.OAuth != nil && s.Remote.OAuth.PerAgent
}

// SessionKeys returns the keys of a session's configuration that the server uses, sorted.
func (s *Server) SessionKeys() []string {
	var keys []string
	for _, v := range s.SessionEnv {
		keys = append(keys, v.Keys...)
	}
	if s.Remote != nil {
		for _, v := range s.Remote.SessionHeader {
			keys = append(keys, v.Keys...)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// In returns the server for a session that gives these values. An error names a key that it lacks.
func (s Server) In(session map[string]string) (Server, error) {
	var own []string
	err := reference.Fill(s.SessionEnv, session, func(name, value string) { own = append(own, name+"="+value) })
	s.Env, s.SessionEnv = append(own, s.Env...), nil // an assignment in the command wins
	if s.Remote == nil || err != nil {
		return s, err
	}
	r := *s.Remote
	r.Header = r.Header.Clone()
	err = reference.Fill(r.SessionHeader, session, r.Header.Set)
	r.SessionHeader, s.Remote = nil, &r
	return s, err
}
