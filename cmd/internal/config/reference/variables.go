package reference

import (
	"runtime"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolman/cmd/internal/config/source"
)

// Variables are names of environment variables, as [VariableName] returns them.
type Variables map[string]bool

// VariableName returns a name in capitals on Windows, where case does not count.
func VariableName(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

// VariablesIn returns the variables that strings in n refer to, as $NAME or ${NAME…}. These include
// references that are not replaced: those of a server that is not enabled, and those in quotes,
// which may be for a shell that the command runs.
func VariablesIn(n source.Node) Variables {
	all := Variables{}
	all.add(n)
	return all
}

func (all Variables) add(n source.Node) {
	const inNames = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
	switch v := n.Value.(type) {
	case []source.Member:
		for _, m := range v {
			all.add(m.Node)
		}
	case []source.Node:
		for _, n := range v {
			all.add(n)
		}
	case string:
		for _, text := range strings.Split(v, "$")[1:] {
			text = strings.TrimLeft(text, "{#!") // ${#NAME} and ${!NAME} are for shells
			name := text[:len(text)-len(strings.TrimLeft(text, inNames))]
			if syntax.ValidName(name) {
				all[VariableName(name)] = true
			}
		}
	}
}
