package config

import (
	"cmp"
	"slices"
	"strings"

	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/config/table"
	"toolman/mcpwire/sanitize"
)

// clientServers is the key under which MCP clients have their servers.
const clientServers = "mcpServers"

// withServerArray returns the file with all its servers in one array under servers, in the order of
// their lines. A server of a table, under servers or mcpServers, gets its key as its namespace or,
// if it has one, as its name.
func withServerArray(p *source.Problems, root source.Node) source.Node {
	members, _ := root.Value.([]source.Member)
	var rest []source.Member
	var all []source.Node
	var at *source.Member // where the array belongs
	for _, m := range members {
		inner, isTable := m.Value.([]source.Member)
		elems, isArray := m.Value.([]source.Node)
		switch {
		case m.Key == clientServers && !isTable:
			p.Fail(m.Line, "write "+byNameExample(p, clientServers), "%s is %s where a table is expected", clientServers, m.Kind())
			continue
		case m.Key != clientServers && (m.Key != "servers" || !isTable && !isArray):
			rest = append(rest, m)
			continue
		}
		if at == nil {
			at = &source.Member{Key: "servers", Node: source.Node{Line: m.Line}}
		}
		all = append(all, elems...)
		if isServer(inner) && m.Key == "servers" {
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
func isServer(members []source.Member) bool {
	return slices.ContainsFunc(members, func(m source.Member) bool {
		_, isTable := m.Value.([]source.Member)
		return !isTable && slices.Contains(serverKeys(), m.Key)
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
	legal := m.Key == "" || isNamespace(m.Key)
	add := func(key, value string) {
		keys = append([]source.Member{{Key: key, Node: source.Node{Line: m.Line, Value: value}}}, keys...)
	}
	switch {
	case !has("namespace") && legal:
		add("namespace", m.Key)
	case !has("namespace"):
		hint := namespaceHint
		if like := likeNamespace(m.Key); like != "" {
			hint = "rename it, or write " + p.Write("namespace", `"`+like+`"`) + " in it"
		}
		p.Fail(m.Line, hint, "the key %s of %s cannot be a namespace", source.Shown(m.Key), under)
		add("namespace", "") // and no second problem
	case !has("name") && legal && m.Key != "":
		add("name", m.Key)
	}
	return []source.Node{{Line: m.Line, Value: keys}}
}

// likeNamespace returns a namespace that is like a key, or "".
func likeNamespace(key string) string {
	words := strings.FieldsFunc(key, func(r rune) bool { return !strings.ContainsRune(letters+"_.-", r) })
	like := strings.TrimLeft(strings.Join(words, "_"), "_.-")
	like = strings.TrimRight(like[:min(len(like), maxNamespace)], "_.-")
	if !isNamespace(like) {
		return ""
	}
	return like
}

// clientKeys are keys of MCP clients' server blocks that change nothing here.
func clientKeys() []string {
	return []string{"alwaysAllow", "autoApprove", "dev", "gallery", "timeout", "trust", "version"}
}

// noteClientKeys adds a warning for each key of a client that is ignored.
func noteClientKeys(t table.Table) {
	for _, key := range clientKeys() {
		hint := "take it out"
		switch {
		case !t.Has(key):
			continue
		case key == "timeout":
			hint = "clients mean different things by it: write start_timeout or " + t.Write("call_timeout", `"1m"`)
		case key == "alwaysAllow", key == "autoApprove", key == "trust":
			hint = "tools that need consent are in dangerous_tools"
		}
		t.Warn(t.LineOf(key), hint, "%s is of a client's configuration and is ignored", key)
	}
}

// types are the values of type and the transport that each stands for.
func types() map[string]string {
	return map[string]string{"stdio": "command", "http": "url", "sse": "url", "streamable-http": "url", "streamableHttp": "url"}
}

// checkType adds a problem with a type that contradicts the server's transport. A server at a url
// needs no type: toolman finds out which transport it speaks.
func checkType(t table.Table) {
	as := t.Choice("type", "stdio", "http", "sse", "streamable-http", "streamableHttp")
	if needs := types()[as]; t.Has("type") && needs != "" && !t.Has(needs) && (t.Has("command") || t.Has("url") || t.Has("socket")) {
		t.FailAt("type", "take it out", "the type %s is for a server with a %s", as, needs)
	}
}

// enabled reads enabled, and disabled, which is its opposite.
func enabled(t table.Table) bool {
	if t.Has("enabled") && t.Has("disabled") {
		t.FailAt("disabled", "keep one of the two", "this server has enabled and disabled")
	}
	return t.Bool("enabled", true) && !t.Bool("disabled", false)
}
