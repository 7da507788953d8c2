package config

import (
	"maps"

	"toolman/cmd/internal/config/reference"
	"toolman/cmd/internal/config/table"
)

// A Hook is a command to run when something happens to a toolset.
type Hook struct {
	Argv []string
	Env  []string // assigned before the command

	like Server // inherits the same variables
}

// Inherits reports whether the command inherits a variable from toolman's environment: not those
// that only other commands or http refer to.
func (h *Hook) Inherits(name string) bool { return h.like.Inherits(name) }

// readHook reads a command, or nil if there is none.
func readHook(d *decoder, t table.Table, key string, c *Config) *Hook {
	text := t.Filled(key, `"./notify.sh"`, "name a command, or leave it out")
	if text == "" {
		return nil
	}
	all := maps.Clone(d.ofHTTP)
	for _, name := range c.WithholdEnv {
		all[reference.VariableName(name)] = true
	}
	for i := range c.Servers {
		maps.Copy(all, c.Servers[i].Refers)
	}
	h := &Hook{like: Server{Referred: all, Refers: reference.VariablesIn(t.At(key))}}
	sc := d.scope(t, key, key)
	sc.Inherits = h.like.Inherits
	h.Argv, h.Env = sc.Command(text)
	return h
}
