package config

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"toolman/mcpwire/sanitize"
)

const (
	defaultStartTimeout    = 10 * time.Second
	defaultMaxMessageBytes = 32 << 20
	leastMessageBytes      = 1 << 10
	mostMessageBytes       = 1 << 30
	mostCalls              = 100_000
)

// namespaceForm keeps names within what clients accept, [A-Za-z0-9_.-], with room for the tool's own name.
var namespaceForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(namespacePattern) })

const (
	namespacePattern = `^[A-Za-z0-9][A-Za-z0-9_.-]*$` // its length is looked at apart: {0,31} takes more memory and time than all the rest of a file
	maxNamespace     = 32
)

func isNamespace(s string) bool { return len(s) <= maxNamespace && namespaceForm().MatchString(s) }

// serverKeys are the keys of a server, one value refused for now included.
func serverKeys() []string {
	return []string{"namespace", "name", "command", "env", "cwd", "start_timeout", "call_timeout", "max_concurrent_calls", "max_message_bytes",
		"restart", "era", "share", "enabled", "url", "headers", "ca_file", "oauth", "socket", "inherit_env"}
}

// servedCallTimeout is call_timeout where many clients share a server, so that no call keeps its place
// there for ever.
const servedCallTimeout = 5 * time.Minute

// callTimeout is what call_timeout is without being set.
func (d *decoder) callTimeout() time.Duration {
	if d.HTTP {
		return servedCallTimeout
	}
	return 0
}

// server decodes one element of servers.
func (d *decoder) server(n node) Server {
	t := d.table(n, "in a server", serverKeys()...)
	s := Server{
		Line:            n.line,
		Namespace:       t.namespace(),
		Name:            t.name(),
		Command:         t.command(),
		InheritEnv:      t.inheritEnv(),
		StartTimeout:    t.duration("start_timeout", defaultStartTimeout, time.Millisecond),
		CallTimeout:     t.duration("call_timeout", d.callTimeout(), 0),
		MaxCalls:        int(t.integer("max_concurrent_calls", 0, 0, mostCalls)),
		MaxCallsLine:    t.values["max_concurrent_calls"].line,
		Era:             t.choice("era", "auto", "legacy", "modern"),
		Share:           t.choice("share", "auto", "always", "never"),
		MaxMessageBytes: int(t.integer("max_message_bytes", defaultMaxMessageBytes, leastMessageBytes, mostMessageBytes)),
		Enabled:         t.boolean("enabled", true),
	}
	t.later("restart", "on-failure", "this version never restarts a server", "never")
	t.oneWay()
	vars, dir, socket := t.env(), t.cwd(), t.socket()
	r := d.remote(t)
	if s.Enabled {
		s.expand(d, t, vars, dir)
		s.Remote = r.expand(d, t)
		if strings.TrimSpace(socket) != "" {
			s.Socket = scope{d: d, line: t.values["socket"].line, key: "socket"}.socket(socket)
		}
		t.notShared(&s)
	}
	return s
}

// expand fills in Env, Dir and Argv.
func (s *Server) expand(d *decoder, t table, vars []member, dir string) {
	env, ofSession := map[string]string{}, map[string]bool{}
	for _, v := range vars {
		sc := scope{d: d, line: v.line, key: "env." + v.key}
		if value := sc.session(v.key, v.value.(string)); value != nil {
			s.SessionEnv = append(s.SessionEnv, *value)
			ofSession[v.key] = true
			continue
		}
		env[v.key] = sc.clean(sc.expand(v.value.(string)))
		d.secret(env[v.key])
		s.Env = append(s.Env, v.key+"="+env[v.key])
	}
	if dir != "" {
		sc := scope{d: d, line: t.values["cwd"].line, key: "cwd"}
		s.Dir = sc.folder(dir)
	}
	if s.Command != "" {
		sc := scope{d: d, line: t.values["command"].line, key: "command", env: env, ofSession: ofSession, inherits: s.Inherits}
		argv, assigned := sc.command(s.Command)
		s.Argv, s.Env = argv, append(s.Env, assigned...)
	}
}

func (t table) namespace() string {
	s, ok := t.text("namespace", `"fs"`)
	t.need("namespace")
	t.note("namespace", form{"pattern": "^$|" + namespacePattern, "maxLength": maxNamespace})
	if _, given := t.values["namespace"]; !given {
		t.d.fail(t.line, "write "+t.d.write("namespace", `"fs"`)+", or "+t.d.write("namespace", `""`)+" to use the server's names as they are",
			"this server has no namespace")
	}
	if ok && s != "" && !isNamespace(s) {
		t.outside("namespace", nameHint)
	}
	return s
}

const nameHint = "write up to 32 letters, digits, _, . and -, a letter or digit first"

// name is what policies call the server.
func (t table) name() string {
	s, ok := t.text("name", `"github"`)
	t.note("name", form{"pattern": namespacePattern, "maxLength": maxNamespace})
	if ok && !isNamespace(s) {
		t.outside("name", nameHint)
	}
	if !ok {
		s, _ = t.values["namespace"].value.(string)
	}
	return s
}

const exampleCommand = `"npx -y some-mcp-server"`

// command is the command as written; "" when it is of no use, which has been noted.
func (t table) command() string {
	s, ok := t.text("command", exampleCommand)
	t.note("command", filledForm())
	if ok && strings.TrimSpace(s) == "" {
		t.d.fail(t.values["command"].line, "write "+t.d.write("command", exampleCommand)+", or "+t.d.write("enabled", "false"), "command is empty")
		return ""
	}
	return s
}

// later refuses the one value of key that a later version will know, and whatever is not among the others.
func (t table) later(key, value, why string, others ...string) {
	n := t.values[key]
	if n.value != value {
		t.choice(key, others...)
		return
	}
	t.d.fail(n.line, "write "+t.d.write(key, `"`+others[0]+`"`)+" or leave it out",
		"%s is not available yet: %s", t.d.write(key, `"`+value+`"`), why)
}

// env is the env table, its strings as written.
func (t table) env() []member {
	t.note("env", mapForm(textForm()))
	t.note("env", form{"propertyNames": form{"pattern": `^[^=\x00]+$`}})
	n, ok := t.values["env"]
	if !ok {
		return nil
	}
	all, ok := n.value.([]member)
	if !ok {
		t.wrong("env", "a table of strings", "{"+t.d.write("NAME", `"value"`)+"}")
	}
	var vars []member
	for _, m := range all {
		switch _, isText := m.value.(string); {
		case m.key == "" || strings.ContainsAny(m.key, "=\x00"):
			t.d.fail(m.line, "name a variable", "env holds the key %s, which no variable can have", shown(m.key))
		case !isText:
			hint := "put the value in quotes"
			if slices.Contains(serverKeys(), m.key) && t.d.format == "toml" {
				hint = "write it above [servers.env] if it is about the server"
			}
			t.d.fail(m.line, hint, "%s is %s where a string is expected", sanitize.Line("env."+m.key), m.kind())
		default:
			vars = append(vars, m)
		}
	}
	return vars
}

// cwd is the folder as written.
func (t table) cwd() string {
	s, ok := t.text("cwd", `"sub/folder"`)
	t.note("cwd", filledForm())
	if ok && strings.TrimSpace(s) == "" {
		t.outside("cwd", "name a folder, or leave it out for the one toolman is started in")
	}
	return s
}

// folder is a cwd with its references replaced, made absolute.
func (sc scope) folder(written string) string {
	return sc.path(written, "name a folder, or leave it out")
}
