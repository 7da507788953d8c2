package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolman/cmd/internal/clients"
	"toolman/cmd/internal/config"
	"toolman/cmd/internal/config/reference"
	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/diagnosis"
	"toolman/cmd/internal/engine"
	"toolman/cmd/internal/setup"
	"toolman/cmd/internal/translate"
	"toolman/mcpwire/sanitize"
)

// Entries are those of clients that start toolman with one tools.toml. They may set variables that
// this shell does not have.
type entries []clients.Entry

// A need is a variable that a server refers to and that this shell does not have.
type need struct {
	server *config.Server
	name   string
}

// load loads the configuration. Variables that this shell does not have get the values that entries
// of clients set: the servers then start as these clients start them.
func load(f *engine.Flags, place clients.Place, program string) (*config.Config, []need, entries, error) {
	at, err := f.Find()
	if err != nil {
		return nil, nil, nil, err
	}
	c, err := f.LoadAt(at)
	if err != nil {
		return nil, nil, nil, err
	}
	needs := needsOf(c)
	if len(needs) == 0 || at.Virtual() {
		return c, nil, nil, nil
	}
	with := entriesWith(c.Path, place, program)
	o := f.Options()
	o.LookupEnv = func(name string) (string, bool) {
		if value, ok := os.LookupEnv(name); ok {
			return value, true
		}
		return with.value(place, name)
	}
	why := c.Why
	if c, err = config.LoadFrom(at.Source, o); err == nil {
		c.Why = why
	}
	return c, needs, with, err
}

// needsOf returns the variables for want of which servers do not start.
func needsOf(c *config.Config) (all []need) {
	for _, s := range setup.Enabled(c) {
		for name := range s.Refers {
			if slices.ContainsFunc(s.Missing, func(p source.Problem) bool { return strings.Contains(p.Msg, unset(name)) }) {
				all = append(all, need{s, name})
			}
		}
	}
	slices.SortFunc(all, func(a, b need) int { return strings.Compare(a.name, b.name) })
	return all
}

// unset is what is said of a variable that is not set.
func unset(name string) string { return "the variable " + name + " is not set" }

// entriesWith returns the enabled entries of all clients that name the tools.toml at path.
func entriesWith(path string, place clients.Place, program string) (with entries) {
	for _, c := range clients.All() {
		if !c.Detected(place) {
			continue
		}
		for _, f := range c.Files(place) {
			all, _ := f.Read() // what is wrong with the file is reported elsewhere
			for i := range all {
				e := &all[i]
				named, _ := configOf(e)
				if !filepath.IsAbs(named) && e.File.Scope != clients.User {
					named = filepath.Join(place.Project, named)
				}
				known := func(o clients.Entry) bool { return o.File.Same(e.File) && o.Name == e.Name } // two clients read it
				if !e.Disabled && startsToolman(e, program) && same(named, path) && !slices.ContainsFunc(with, known) {
					with = append(with, *e)
				}
			}
		}
	}
	return with
}

// setBy returns what an entry sets a variable to. known is false if only the client knows its value.
// A value that refers to the same variable in the client's environment does not set it.
func setBy(e *clients.Entry, place clients.Place, name string) (value string, known, set bool) {
	for _, v := range e.Env {
		if reference.VariableName(v.Name) != reference.VariableName(name) {
			continue
		}
		text, err := translate.Text(translate.SyntaxOf(e.File.Client.ID), translate.Context{OS: place.OS}, v.Value)
		if err == nil && text.Text == translate.Escape(v.Value) {
			return v.Value, true, true
		}
		return "", false, len(text.Inputs) > 0 || !strings.Contains(text.Text, "${"+v.Name)
	}
	return "", false, false
}

// value returns the first known value of a variable.
func (with entries) value(place clients.Place, name string) (string, bool) {
	for i := range with {
		if value, known, _ := setBy(&with[i], place, name); known {
			return value, true
		}
	}
	return "", false
}

// judge replaces what package diagnosis says of variables that are not set by what the entries of
// clients mean for them.
func (with entries) judge(found []diagnosis.Finding, needs []need, place clients.Place, path string) []diagnosis.Finding {
	if len(with) == 0 {
		return found
	}
	found = slices.DeleteFunc(found, func(f diagnosis.Finding) bool {
		return f.ID == "variable-not-set" && slices.ContainsFunc(needs, func(n need) bool { return n.server.Name == f.Server && strings.Contains(f.Summary, unset(n.name)) })
	})
	for _, n := range needs {
		var lacking, edits []string
		for i := range with {
			e := &with[i]
			if _, _, set := setBy(e, place, n.name); !set {
				lacking = append(lacking, fmt.Sprintf("%s (%s)", e.File.Client.Title, placeOf(e)))
				edits = append(edits, placeOf(e))
			}
		}
		f := diagnosis.Finding{ID: "variable-not-set", Server: n.server.Name}
		_, started := with.value(place, n.name)
		switch {
		case len(lacking) > 0:
			f.Level = diagnosis.Problem
			f.Summary = fmt.Sprintf("%s here, and these clients do not set it for toolman: %s", unset(n.name), strings.Join(lacking, ", "))
			f.Fix = fmt.Sprintf("write %s into env at %s, or keep the value in a file and write ${file:…} at %s:%d", n.name, strings.Join(edits, ", "), path, n.server.Line)
		case !started:
			f.Level = diagnosis.Note
			f.Summary = unset(n.name) + " here; the clients that start toolman set it, to a value that they alone know"
			f.Fix = "set " + n.name + " in this shell, and doctor starts the server"
		default:
			continue
		}
		f.Summary, f.Fix = sanitize.Line(f.Summary), sanitize.Line(f.Fix)
		found = append(found, f)
	}
	return found
}
