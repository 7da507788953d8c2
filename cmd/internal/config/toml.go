package config

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"toolman/mcpwire/sanitize"
)

// parseTOML reads the values with the library and their lines with [locate]: the library has a position for errors only.
// The lines are found first, since the library takes time quadratic in the nesting and locate knows a bound.
func parseTOML(text string) (node, *Problem) {
	root, deep := locate(text)
	if deep > 0 {
		return node{}, tooDeep(deep)
	}
	var values map[string]any
	if _, err := toml.Decode(text, &values); err != nil {
		return node{}, tomlProblem(err)
	}
	return placed(values, root), nil
}

// placed joins a value with where it stands. A place that is missing gives line 0, which messages leave out.
func placed(value any, p *place) node {
	n := node{value: value}
	if p != nil {
		n.line = p.line
	}
	switch v := value.(type) {
	case map[string]any:
		n.value = placedTable(v, p)
	case []map[string]any:
		n.value = placedArray(v, p)
	case []any:
		n.value = placedArray(v, p)
	}
	return n
}

func placedTable(table map[string]any, p *place) []member {
	members := []member{}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		members = append(members, member{key, placed(table[key], p.key(key))})
	}
	slices.SortStableFunc(members, func(a, b member) int { return cmp.Compare(a.line, b.line) })
	return members
}

func placedArray[T any](values []T, p *place) []node {
	nodes := []node{}
	for i, v := range values {
		nodes = append(nodes, placed(v, p.elem(i)))
	}
	return nodes
}

// tomlProblem is the library's error without what it quotes of values: a token whose quotes were forgotten is in it.
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
	case strings.Contains(p.Msg, "escape"):
		p.Hint = `write \\ for a backslash, or the string in single quotes`
	}
	return p
}

// tomlReason keeps messages known to quote a key or a single character at most.
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
