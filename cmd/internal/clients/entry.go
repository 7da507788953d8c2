package clients

import (
	"slices"
	"strings"

	"toolman/cmd/internal/config/source"
)

// Toolman is how a client starts toolman.
type Toolman struct {
	Name     string // of the entry
	Command  string
	Args     []string
	Env      []Pair   // variables with their values
	EnvNames []string // variables that toolman needs from the client's own environment
}

// A shape writes toolman's entry as a client reads it.
type shape func(t Toolman, f File) []source.Member

// Entry returns the keys of toolman's entry in a file.
func (f File) Entry(t Toolman) []source.Member { return f.Client.shape(t, f) }

// member returns a key with a value, which may be []string or []Pair.
func member(key string, value any) source.Member {
	switch v := value.(type) {
	case int:
		value = int64(v)
	case []string:
		elems := []source.Node{}
		for _, s := range v {
			elems = append(elems, source.Node{Value: s})
		}
		value = elems
	case []Pair:
		members := []source.Member{}
		for _, p := range v {
			members = append(members, member(p.Name, p.Value))
		}
		value = members
	}
	return source.Member{Key: key, Node: source.Node{Value: value}}
}

// env returns the variables under a key, or nothing if there are none.
func env(key string, pairs []Pair) []source.Member {
	if len(pairs) == 0 {
		return nil
	}
	return []source.Member{member(key, pairs)}
}

// plain is what most clients read.
func plain(t Toolman, _ File) []source.Member {
	return append([]source.Member{member("command", t.Command), member("args", t.Args)}, env("env", t.Env)...)
}

func typed(t Toolman, f File) []source.Member {
	return append([]source.Member{member("type", "stdio")}, plain(t, f)...)
}

// claudeCode has the client wait for toolman's tools and load them, so that they are there in the
// first step of the model.
func claudeCode(t Toolman, f File) []source.Member {
	return append(typed(t, f), member("alwaysLoad", true))
}

// copilot shares a project's .mcp.json with Claude Code, and writes what both read.
func copilot(t Toolman, f File) []source.Member {
	if f.Scope == Project {
		return claudeCode(t, f)
	}
	return append(append([]source.Member{member("type", "local")}, plain(t, f)...), member("tools", []string{"*"}))
}

// codex has the client wait for toolman, and pass the variables on that tools.toml refers to: it
// gives servers few others.
func codex(t Toolman, f File) []source.Member {
	all := plain(t, f)
	if len(t.EnvNames) > 0 {
		all = append(all, member("env_vars", t.EnvNames))
	}
	return append(all, member("required", true), member("startup_timeout_sec", 30))
}

// gemini names the variables that the client would keep from toolman.
func gemini(t Toolman, f File) []source.Member {
	t.Env = slices.Clone(t.Env)
	for _, name := range t.EnvNames {
		if GeminiDrops(name) && !slices.ContainsFunc(t.Env, func(p Pair) bool { return p.Name == name }) {
			t.Env = append(t.Env, Pair{name, "$" + name})
		}
	}
	return append(plain(t, f), member("timeout", 600_000))
}

// GeminiDrops reports whether Gemini CLI keeps a variable from servers, unless their env names it.
func GeminiDrops(name string) bool {
	return slices.ContainsFunc([]string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "KEY", "AUTH", "CREDENTIAL", "CREDS", "PRIVATE", "CERT"},
		func(part string) bool { return strings.Contains(strings.ToUpper(name), part) })
}

func opencode(t Toolman, f File) []source.Member {
	all := []source.Member{member("type", "local"), member("command", append([]string{t.Command}, t.Args...))}
	all = append(all, env("environment", t.Env)...)
	if slices.Equal(f.Keys, opencodeKeys) {
		return all
	}
	return append(all, member("enabled", true), member("timeout", 60_000))
}

func zed(t Toolman, f File) []source.Member {
	return append([]source.Member{member("source", "custom")}, plain(t, f)...)
}

func goose(t Toolman, _ File) []source.Member {
	return []source.Member{
		member("name", t.Name), member("description", "many MCP servers as one"), member("type", "stdio"),
		member("cmd", t.Command), member("args", t.Args), member("envs", t.Env), member("env_keys", []string{}),
		member("enabled", true), member("timeout", 600), member("bundled", nil),
	}
}

func cline(t Toolman, f File) []source.Member {
	return append(plain(t, f), member("disabled", false))
}

func grok(t Toolman, f File) []source.Member {
	return append(plain(t, f), member("enabled", true), member("startup_timeout_sec", 30))
}
