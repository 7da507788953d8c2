package edit

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"toolman/cmd/internal/config/source"
	"toolman/mcpwire/sanitize"
)

// parseYAML returns the first document of a file, or nil if it is empty.
func parseYAML(text []byte) (*yaml.Node, *source.Problem) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, yamlProblem(err)
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil, nil
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" {
		return nil, nil
	}
	return root, nil
}

func yamlProblem(err error) *source.Problem {
	p := &source.Problem{Msg: "this is not YAML"}
	reason := strings.TrimPrefix(err.Error(), "yaml: ")
	if _, err := fmt.Sscanf(reason, "line %d:", &p.Line); err == nil {
		_, reason, _ = strings.Cut(reason, ": ")
	}
	reason, _, _ = strings.Cut(reason, " '") // an anchor that is not there may be a secret that begins with *
	p.Msg += ": " + sanitize.Line(reason)
	return p
}

// yamlAt returns the value at a path.
func yamlAt(text []byte, most int, path []string) (source.Node, bool, *source.Problem) {
	n, p := parseYAML(text)
	if p != nil || n == nil {
		return source.Node{}, false, p
	}
	line := n.Line
	for i, key := range path {
		n = yamlAlias(n)
		if n.ShortTag() == "!!null" {
			return source.Node{}, false, nil
		}
		k, v, p := yamlMember(n, path[:i], key)
		if p != nil || v == nil {
			return source.Node{}, false, p
		}
		line, n = k.Line, v
	}
	r := yamlReader{bounds{most: most}}
	value := r.node(n, 0)
	value.Line = line
	return value, r.problem == nil, r.problem
}

// yamlAlias returns the value that an alias stands for.
func yamlAlias(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// yamlMember returns the member key of the mapping n, which is at path, or nil.
func yamlMember(n *yaml.Node, path []string, key string) (k, v *yaml.Node, p *source.Problem) {
	if n.Kind != yaml.MappingNode {
		return nil, nil, notTable(n.Line, path, yamlKind(n))
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Kind != yaml.ScalarNode || n.Content[i].Value != key {
			continue
		}
		if v != nil {
			return nil, nil, twice(n.Content[i].Line, key)
		}
		k, v = n.Content[i], n.Content[i+1]
	}
	return k, v, nil
}

func yamlKind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	return "a single value"
}

// A yamlReader turns parsed values into nodes with lines. An alias counts as the values that it
// stands for.
type yamlReader struct{ bounds }

func (r *yamlReader) node(n *yaml.Node, depth int) source.Node {
	out := source.Node{Line: n.Line}
	n = yamlAlias(n)
	if r.exceeded(out.Line, depth) {
		return out
	}
	switch n.Kind {
	case yaml.MappingNode:
		members := []source.Member{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			inner := r.node(n.Content[i+1], depth+1)
			inner.Line = n.Content[i].Line
			members = append(members, source.Member{Key: yamlAlias(n.Content[i]).Value, Node: inner})
		}
		out.Value = members
	case yaml.SequenceNode:
		elems := []source.Node{}
		for _, e := range n.Content {
			elems = append(elems, r.node(e, depth+1))
		}
		out.Value = elems
	default:
		out.Value = yamlScalar(n)
	}
	return out
}

func yamlScalar(n *yaml.Node) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return b
		}
	case "!!int":
		var i int64
		if n.Decode(&i) == nil {
			return i
		}
	case "!!float":
		var f float64
		if n.Decode(&f) == nil {
			return f
		}
	}
	return n.Value
}
