package source

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"toolman/mcpwire/sanitize"
)

// parseTOML reads the values with the library and their lines with [locate]: the library has
// positions for errors only. It calls locate first, which bounds the nesting: the library takes
// time quadratic in that.
func parseTOML(text string) (Node, *Problem) {
	root, deep := locate(text)
	if deep > 0 {
		return Node{}, tooDeep(deep)
	}
	var values map[string]any
	if _, err := toml.Decode(text, &values); err != nil {
		return Node{}, tomlProblem(err)
	}
	return placed(values, root), nil
}

// placed joins a value with its position. A missing position gives line 0, which messages leave
// out.
func placed(value any, p *position) Node {
	n := Node{Value: value}
	if p != nil {
		n.Line = p.line
	}
	switch v := value.(type) {
	case map[string]any:
		members := []Member{}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			members = append(members, Member{key, placed(v[key], p.key(key))})
		}
		slices.SortStableFunc(members, func(a, b Member) int { return cmp.Compare(a.Line, b.Line) })
		n.Value = members
	case []map[string]any:
		n.Value = placedArray(v, p)
	case []any:
		n.Value = placedArray(v, p)
	}
	return n
}

func placedArray[T any](values []T, p *position) []Node {
	nodes := []Node{}
	for i, v := range values {
		nodes = append(nodes, placed(v, p.elem(i)))
	}
	return nodes
}

// tomlProblem returns the library's error without values that it quotes: they may be tokens
// whose quotes were forgotten.
func tomlProblem(err error) *Problem {
	e, ok := errors.AsType[toml.ParseError](err)
	if !ok {
		return &Problem{Msg: "this is not TOML", Hint: "see https://toml.io"}
	}
	// At the end of the text the library may name line 0.
	p := &Problem{Line: max(1, e.Position.Line), Msg: "this is not TOML: " + tomlReason(e.Message)}
	switch {
	case strings.Contains(p.Msg, "already"):
		p.Hint = "keep one of the two"
	case strings.Contains(p.Msg, "value"):
		p.Hint = `a string needs quotes: key = "value"`
	case strings.Contains(p.Msg, "escape"), strings.Contains(p.Msg, "hexadecimal"): // as in "C:\Users"
		p.Hint = `write \\ for a backslash, or the string in single quotes`
	}
	return p
}

// tomlReason returns messages that quote at most a key or a single character.
func tomlReason(msg string) string {
	if strings.HasPrefix(msg, "Key '") {
		return "key" + strings.TrimSuffix(sanitize.Line(msg)[len("Key"):], ".")
	}
	for _, cut := range []string{", but got", " but got", " but found"} {
		msg, _, _ = strings.Cut(msg, cut)
	}
	for _, safe := range []string{"expected ", "unexpected ", "strings cannot", "TOML files cannot", "invalid escape", "floats must"} {
		if strings.HasPrefix(msg, safe) {
			return sanitize.Line(msg)
		}
	}
	return "a value is no valid string, number, date or boolean"
}
