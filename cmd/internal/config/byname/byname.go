package byname

import (
	"cmp"
	"slices"
	"strings"

	"toolman/cmd/internal/config/source"
	"toolman/mcpwire/sanitize"
)

// MCPServers is the key under which MCP clients have their servers.
const MCPServers = "mcpServers"

const (
	letters      = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" // and digits
	maxNamespace = 32                                                               // bytes
)

// Array returns the file with all its servers in one array under servers, in the order of
// their lines. A server of a table, under servers or mcpServers, gets its key as its namespace or,
// if it has one, as its name. keys are the keys of a server.
func Array(p *source.Problems, root source.Node, keys []string) source.Node {
	members, _ := root.Value.([]source.Member)
	var rest []source.Member
	var all []source.Node
	var at *source.Member // where the array belongs
	for _, m := range members {
		inner, isTable := m.Value.([]source.Member)
		elems, isArray := m.Value.([]source.Node)
		switch {
		case m.Key == MCPServers && !isTable:
			p.Fail(m.Line, "write "+byNameExample(p, MCPServers), "%s is %s where a table is expected", MCPServers, m.Kind())
			continue
		case m.Key != MCPServers && (m.Key != "servers" || !isTable && !isArray):
			rest = append(rest, m)
			continue
		}
		if at == nil {
			at = &source.Member{Key: "servers", Node: source.Node{Line: m.Line}}
		}
		all = append(all, elems...)
		if isServer(inner, keys) && m.Key == "servers" {
			p.Fail(m.Line, oneServerHint(p), "servers is one server where several are expected")
			inner = nil
		}
		for _, one := range inner {
			all = append(all, named(p, m.Key, one)...)
		}
	}
	if at == nil {
		return root
	}
	slices.SortStableFunc(all, func(a, b source.Node) int { return cmp.Compare(a.Line, b.Line) })
	at.Value = all
	return source.Node{Line: root.Line, Value: append(rest, *at)}
}

// isServer reports whether a table has the keys of one server and not servers.
func isServer(members []source.Member, known []string) bool {
	return slices.ContainsFunc(members, func(m source.Member) bool {
		_, isTable := m.Value.([]source.Member)
		return !isTable && slices.Contains(known, m.Key)
	})
}

// byNameExample shows servers by name, as they are written in the file's format.
func byNameExample(p *source.Problems, key string) string {
	if p.Format == "json" {
		return `"` + key + `": {"NAME": {"command": …}, …}`
	}
	return "[" + key + ".NAME] above the keys of each server"
}

// oneServerHint says how to write the only server of a file.
func oneServerHint(p *source.Problems) string {
	if p.Format == "json" {
		return "write " + byNameExample(p, "servers")
	}
	return "write [[servers]], with two brackets, or [servers.NAME] above the keys of each server"
}

// named returns a server of a table of servers with its namespace in it, or none with a problem.
func named(p *source.Problems, under string, m source.Member) []source.Node {
	keys, ok := m.Value.([]source.Member)
	if !ok {
		p.Fail(m.Line, "write "+byNameExample(p, under), "%s is %s where a table is expected", sanitize.Line(under+"."+m.Key), m.Kind())
		return nil
	}
	has := func(key string) bool {
		return slices.ContainsFunc(keys, func(m source.Member) bool { return m.Key == key })
	}
	legal := m.Key == "" || IsNamespace(m.Key)
	add := func(key, value string) {
		keys = append([]source.Member{{Key: key, Node: source.Node{Line: m.Line, Value: value}}}, keys...)
	}
	switch {
	case !has("namespace") && legal:
		add("namespace", m.Key)
	case !has("namespace"):
		hint := NamespaceHint
		if like := LikeNamespace(m.Key); like != "" {
			hint = "rename it, or write " + p.Write("namespace", `"`+like+`"`) + " in it"
		}
		p.Fail(m.Line, hint, "the key %s of %s cannot be a namespace", source.Shown(m.Key), under)
		add("namespace", "") // and no second problem
	case !has("name") && legal && m.Key != "":
		add("name", m.Key)
	}
	return []source.Node{{Line: m.Line, Value: keys}}
}

// LikeNamespace returns a namespace that is like a key, or "".
func LikeNamespace(key string) string {
	words := strings.FieldsFunc(key, func(r rune) bool { return !strings.ContainsRune(letters+"_.-", r) })
	like := strings.TrimLeft(strings.Join(words, "_"), "_.-")
	like = strings.TrimRight(like[:min(len(like), maxNamespace)], "_.-")
	if !IsNamespace(like) {
		return ""
	}
	return like
}

// IsNamespace reports whether a name stays within what clients accept, [A-Za-z0-9_.-], with room
// for a tool's own name.
func IsNamespace(s string) bool {
	return s != "" && len(s) <= maxNamespace && strings.Contains(letters, s[:1]) && strings.Trim(s, letters+"_.-") == ""
}

// NamespaceHint says what a namespace consists of.
const NamespaceHint = "write up to 32 letters, digits, _, . and -, a letter or digit first"
