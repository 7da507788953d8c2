package clients

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"toolman/cmd/internal/clients/edit"
	"toolman/cmd/internal/config/source"
)

// A Pair is a variable or a header.
type Pair struct{ Name, Value string }

// An Entry is a server in a client's file.
type Entry struct {
	Name    string
	Line    int
	Command string // the program; "" if the server is at a URL
	Args    []string
	Env     []Pair
	// EnvNames are variables that the client passes on by name: env_vars of Codex, env_keys of Goose.
	EnvNames []string
	EnvFile  string
	Cwd      string
	URL      string
	Type     string // as it is written: "stdio", "http", "sse", …; "" if it is not
	Headers  []Pair
	// HeaderEnv are headers whose values are names of variables; Codex's bearer_token_env_var is
	// Authorization with "Bearer " before the variable's name.
	HeaderEnv []Pair
	Disabled  bool
	Unknown   []string // other keys that the entry has
	File      File
	// IsToolman is set for an entry that starts toolman.
	IsToolman bool
}

// Config returns the tools.toml that an entry of toolman names, or "".
func (e *Entry) Config() string { return ConfigIn(e.Args) }

// ConfigIn returns the tools.toml that arguments of toolman name, or "".
func ConfigIn(args []string) string {
	for i, a := range args {
		if a == "--config" && i+1 < len(args) {
			return args[i+1]
		}
		if path, ok := strings.CutPrefix(a, "--config="); ok {
			return path
		}
	}
	return ""
}

const maxEntries = 1000 // of a file

// Read returns the servers of the file, in its order. A file that does not exist has none. An error
// is a [*source.Problem].
func (f File) Read() ([]Entry, error) {
	text, err := f.Text()
	if err != nil || text == nil {
		return nil, err
	}
	return f.Parse(text)
}

// Parse returns the servers in a text of the file.
func (f File) Parse(text []byte) ([]Entry, error) {
	n, found, problem := edit.At(f.Format, text, f.Keys...)
	if problem != nil {
		return nil, f.problem(problem)
	}
	if !found || n.Value == nil {
		return nil, nil
	}
	members, problem := entriesOf(n, f.Keys[len(f.Keys)-1])
	if problem != nil {
		return nil, f.problem(problem)
	}
	var entries []Entry
	seen := map[string]bool{}
	for _, m := range members {
		if seen[m.Key] {
			return nil, f.problem(&source.Problem{Line: m.Line, Msg: "the server " + source.Shown(m.Key) + " has already been given", Hint: "keep one of the two"})
		}
		seen[m.Key] = true
		if len(entries) == maxEntries {
			return nil, f.problem(&source.Problem{Line: m.Line, Msg: fmt.Sprintf("there are more than %d servers", maxEntries)})
		}
		e, problem := f.entry(m)
		if problem != nil {
			return nil, f.problem(problem)
		}
		if e != nil {
			entries = append(entries, *e)
		}
	}
	return entries, nil
}

// entriesOf returns the servers of an object, or of a list of objects with a name in each.
func entriesOf(n source.Node, key string) ([]source.Member, *source.Problem) {
	switch v := n.Value.(type) {
	case []source.Member:
		return v, nil
	case []source.Node:
		var all []source.Member
		for _, one := range v {
			keys, ok := one.Value.([]source.Member)
			if !ok {
				return nil, &source.Problem{Line: one.Line, Msg: "a server is " + one.Kind() + " where an object is expected"}
			}
			name := ""
			for _, m := range keys {
				if s, isString := m.Value.(string); isString && m.Key == "name" {
					name = s
				}
			}
			if name != "" { // a reference to a block of Continue's hub has none
				all = append(all, source.Member{Key: name, Node: one})
			}
		}
		return all, nil
	}
	return nil, &source.Problem{Line: n.Line, Msg: source.Shown(key) + " is " + n.Kind() + " where an object is expected"}
}

// entry reads a server; nil is one that is no MCP server.
func (f File) entry(m source.Member) (*Entry, *source.Problem) {
	keys, ok := m.Value.([]source.Member)
	if !ok {
		return nil, &source.Problem{Line: m.Line, Msg: "the server " + source.Shown(m.Key) + " is " + m.Kind() + " where an object is expected"}
	}
	r := reader{e: Entry{Name: m.Key, Line: m.Line, File: f}}
	for _, k := range keys {
		r.key(k)
	}
	if r.problem != nil {
		r.problem.Msg = "server " + source.Shown(m.Key) + ": " + r.problem.Msg
		return nil, r.problem
	}
	// Goose has its own extensions in the same place.
	if f.Client != nil && f.Client.ID == "goose" && !slices.Contains([]string{"stdio", "sse", "streamable_http"}, r.e.Type) {
		return nil, nil
	}
	r.e.IsToolman = r.e.isToolman()
	return &r.e, nil
}

// isToolman reports whether the entry starts toolman as a server: by its own name, or with npx or
// uvx.
func (e *Entry) isToolman() bool {
	words := append([]string{e.Command}, e.Args...)
	for i, w := range words {
		base := strings.TrimSuffix(strings.ToLower(filepath.Base(strings.ReplaceAll(w, `\`, "/"))), ".exe")
		name, _, _ := strings.Cut(base, "@")
		if name == "toolman" || i == 0 && strings.HasPrefix(name, "toolman-") {
			// These are other servers, behind toolman's debugger or from a recording.
			return !slices.Contains(words[i+1:], "tap") && !slices.Contains(words[i+1:], "trace")
		}
		if i == 0 && !slices.Contains([]string{"npx", "npx.cmd", "uvx", "bunx", "pnpm", "cmd", "env"}, name) {
			return false
		}
		if i > 4 {
			break
		}
	}
	return false
}

// A reader reads the keys of one server. Clients use different keys for the same thing.
type reader struct {
	e       Entry
	problem *source.Problem // the first one
}

func (r *reader) key(m source.Member) {
	e := &r.e
	switch m.Key {
	case "command":
		r.command(m)
	case "cmd":
		e.Command = r.str(m)
	case "args":
		e.Args = append(e.Args, r.list(m)...)
	case "env", "envs", "environment":
		e.Env = append(e.Env, r.pairs(m)...)
	case "env_vars", "env_keys":
		e.EnvNames = append(e.EnvNames, r.list(m)...)
	case "envFile":
		e.EnvFile = r.str(m)
	case "cwd":
		e.Cwd = r.str(m)
	case "url", "serverUrl", "uri":
		e.URL = r.str(m)
	case "httpUrl":
		e.URL = r.str(m)
		e.Type = "http"
	case "type", "transport":
		if t := r.str(m); e.Type == "" {
			e.Type = t
		}
	case "headers", "http_headers":
		e.Headers = append(e.Headers, r.pairs(m)...)
	case "requestOptions", "requestInit":
		keys, _ := m.Value.([]source.Member)
		for _, k := range keys {
			if k.Key == "headers" {
				e.Headers = append(e.Headers, r.pairs(k)...)
			}
		}
	case "env_http_headers":
		e.HeaderEnv = append(e.HeaderEnv, r.pairs(m)...)
	case "bearer_token_env_var":
		e.HeaderEnv = append(e.HeaderEnv, Pair{"Authorization", "Bearer " + r.str(m)})
	case "disabled":
		e.Disabled = e.Disabled || m.Value == true
	case "enabled":
		e.Disabled = e.Disabled || m.Value == false
	case "name", "description", "source", "bundled":
	default:
		if m.Key == "tools" && isAll(m) || (m.Key == "oauth" || m.Key == "auth") && saysNothing(m) {
			return
		}
		if len(e.Unknown) < 100 {
			e.Unknown = append(e.Unknown, m.Key)
		}
	}
}

// isAll reports whether a list of tools lets all through, as Copilot CLI writes it into every entry.
func isAll(m source.Member) bool {
	list, _ := m.Value.([]source.Node)
	return len(list) == 1 && list[0].Value == "*"
}

// saysNothing reports whether a value has nothing that toolman needs to know for a login: {"oauth": {}}
// and {"oauth": false}.
func saysNothing(m source.Member) bool {
	switch v := m.Value.(type) {
	case []source.Member:
		return len(v) == 0
	case bool, nil:
		return true
	}
	return false
}

// command reads a command: a string, a list with its arguments, or Zed's older object.
func (r *reader) command(m source.Member) {
	switch v := m.Value.(type) {
	case []source.Node:
		if words := r.list(m); len(words) > 0 {
			r.e.Command = words[0]
			r.e.Args = append(words[1:], r.e.Args...)
		}
	case []source.Member:
		for _, k := range v {
			if k.Key == "path" {
				k.Key = "cmd"
			}
			r.key(k)
		}
	default:
		r.e.Command = r.str(m)
	}
}

func (r *reader) fail(m source.Member, want string) {
	if r.problem == nil {
		r.problem = &source.Problem{Line: m.Line, Msg: source.Shown(m.Key) + " is " + m.Kind() + " where " + want + " is expected"}
	}
}

// str returns a value as text; null is none.
func (r *reader) str(m source.Member) string {
	switch v := m.Value.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case nil:
		return ""
	}
	r.fail(m, "a string")
	return ""
}

// list returns a list of texts. One text is a list as well.
func (r *reader) list(m source.Member) []string {
	elems, ok := m.Value.([]source.Node)
	if !ok {
		if _, isTable := m.Value.([]source.Member); isTable {
			r.fail(m, "a list")
		}
		if m.Value == nil {
			return nil
		}
		return []string{r.str(m)}
	}
	var all []string
	for _, e := range elems {
		if keys, isTable := e.Value.([]source.Member); isTable { // env_vars of Codex: {name = …}
			for _, k := range keys {
				if k.Key == "name" {
					all = append(all, r.str(k))
				}
			}
			continue
		}
		all = append(all, r.str(source.Member{Key: m.Key, Node: e}))
	}
	return all
}

// pairs returns an object of texts.
func (r *reader) pairs(m source.Member) []Pair {
	keys, ok := m.Value.([]source.Member)
	if !ok {
		if m.Value != nil {
			r.fail(m, "an object")
		}
		return nil
	}
	var all []Pair
	for _, k := range keys {
		all = append(all, Pair{k.Key, r.str(k)})
	}
	return all
}
