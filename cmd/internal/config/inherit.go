package config

import (
	"maps"
	"runtime"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolman/router/policy"
)

// reserved begins the names of toolman's own variables.
const reserved = "TOOLMAN_"

// guarding is the one of them that servers get: a toolman that runs this one finds them by it.
const guarding = reserved + "GUARD"

// Inherits reports whether the server's process gets a variable that toolman itself has. What
// Env says comes on top.
func (s *Server) Inherits(name string) bool {
	name = variable(name)
	named := func(pattern string) bool { return variable(pattern) == name }
	matched := func(pattern string) bool { return policy.Entry{Text: variable(pattern)}.Matches(name) }
	switch {
	case strings.HasPrefix(name, reserved):
		return name == guarding
	case slices.ContainsFunc(s.InheritEnv, named):
		return true
	case s.Referred[name] && !s.Refers[name] && !ordinary(name):
		return false
	}
	return s.InheritEnv == nil || slices.ContainsFunc(s.InheritEnv, matched)
}

// inheritEnv reads inherit_env; nil without one.
func (t table) inheritEnv() []string {
	elems := t.array("inherit_env", `["PATH", "HOME"]`)
	t.note("inherit_env", listForm(form{"type": "string", "pattern": `^[^=\x00]+$`}))
	if !t.has("inherit_env") {
		return nil
	}
	all := []string{}
	for _, e := range t.d.entries("inherit_env", elems) {
		switch {
		case strings.ContainsAny(e.Text, "=\x00"):
			t.d.fail(e.Line, "name the variable alone; a value belongs in env", "inherit_env holds a name that no variable can have")
		case variable(e.Text) != guarding && strings.HasPrefix(variable(e.Text), reserved):
			t.d.fail(e.Line, "take it out, or set a variable of another name in env", "inherit_env holds %s: servers get none of toolman's own variables", shown(e.Text))
		case t.d.ofHTTP[variable(e.Text)]:
			t.d.fail(e.Line, "take it out", "inherit_env holds %s, which http refers to: servers do not get toolman's own secrets", shown(e.Text))
		}
		all = append(all, e.Text)
	}
	return all
}

// noteReferences fills in what each server refers to, and what all of them do. nodes are their tables.
func noteReferences(servers []Server, nodes []node, ofHTTP Variables) {
	all := maps.Clone(ofHTTP)
	for i, n := range nodes {
		servers[i].Refers, servers[i].Referred = variablesIn(n), all
		maps.Copy(all, servers[i].Refers)
	}
}

// ordinary reports whether a variable is no secret wherever it is referred to: programs need it.
func ordinary(name string) bool {
	switch name {
	case "PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "TMPDIR", "TEMP", "TMP", "LANG", "LANGUAGE", "TZ", "TERM":
		return true
	case "USERPROFILE", "USERNAME", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR",
		"COMSPEC", "PATHEXT":
		return runtime.GOOS == "windows"
	}
	return strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_")
}

// Variables are names of variables of the environment; on Windows, where case does not count, in capitals.
type Variables map[string]bool

// inNames are the characters of variables' names.
const inNames = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

// variable is a name in one spelling where case does not count.
func variable(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

// variablesIn are those that strings in n refer to, as $NAME or ${NAME…}. References that are not
// replaced count, too: those of a server that is not enabled, and those in quotes, which may be
// for a shell that the command runs.
func variablesIn(n node) Variables {
	all := Variables{}
	all.add(n)
	return all
}

func (all Variables) add(n node) {
	switch v := n.value.(type) {
	case []member:
		for _, m := range v {
			all.add(m.node)
		}
	case []node:
		for _, n := range v {
			all.add(n)
		}
	case string:
		for _, text := range strings.Split(v, "$")[1:] {
			text = strings.TrimLeft(text, "{#!") // ${#NAME} and ${!NAME} are for shells
			name := text[:len(text)-len(strings.TrimLeft(text, inNames))]
			if syntax.ValidName(name) {
				all[variable(name)] = true
			}
		}
	}
}
