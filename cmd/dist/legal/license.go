package legal

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licenses are those that toolman may be linked with, by words that only their texts have: in lower
// case, with one space for what identify takes for space.
var licenses = []struct {
	id     string
	has    []string
	hasNot string
}{
	{"MIT", []string{"permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files", "the above copyright notice and this permission notice shall be included", "the software is provided \"as is\""}, ""},
	{"Apache-2.0", []string{"apache license version 2.0, january 2004"}, ""},
	{"Apache-2.0", []string{"licensed under the apache license, version 2.0"}, "apache license version 2.0, january 2004"},
	{"BSD-3-Clause", []string{"redistribution and use in source and binary forms, with or without modification, are permitted", "neither the name", "this software is provided by the copyright holders and contributors"}, ""},
	{"BSD-2-Clause", []string{"redistribution and use in source and binary forms, with or without modification, are permitted", "this software is provided by the copyright holders and contributors"}, "neither the name"},
	{"ISC", []string{"permission to use, copy, modify, and or distribute this software for any purpose"}, ""},
}

var (
	space   = regexp.MustCompile(`[\s*#/]+`) // and what begins lines of comments
	texts   = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense|patents)([-._].*)?$`)
	notices = regexp.MustCompile(`(?i)^notice([-._].*)?$`)
)

// identify returns the identifiers of the licenses in a text.
func identify(text string) []string {
	plain := strings.NewReplacer("“", `"`, "”", `"`, "``", `"`, "''", `"`).Replace(strings.ToLower(text))
	plain = space.ReplaceAllString(plain, " ")
	found := map[string]bool{}
	for _, l := range licenses {
		all := l.hasNot == "" || !strings.Contains(plain, l.hasNot)
		for _, words := range l.has {
			all = all && strings.Contains(plain, words)
		}
		if all {
			found[l.id] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// read finds the licenses of a module: in its folder, and in those of its linked packages and above
// them, which may come from elsewhere.
func (m *Module) read() error {
	dirs := map[string]bool{m.dir: true}
	for _, dir := range m.packages {
		for ; len(dir) > len(m.dir); dir = filepath.Dir(dir) {
			dirs[dir] = true
		}
	}
	licensed := map[string]bool{}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			name := e.Name()
			if e.IsDir() || strings.HasSuffix(name, ".go") || !texts.MatchString(name) && !notices.MatchString(name) {
				continue
			}
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(m.dir, filepath.Join(dir, name))
			if err != nil {
				return err
			}
			m.Texts = append(m.Texts, Text{filepath.ToSlash(rel), string(data)})
			if !texts.MatchString(name) || strings.HasPrefix(strings.ToLower(name), "patents") {
				continue // it stands beside a license
			}
			ids := identify(string(data))
			if len(ids) == 0 {
				return fmt.Errorf("module %s %s: %s is no license that is known: read it, and add it to package legal if toolman may be linked with it", m.Path, m.Version, rel)
			}
			for _, id := range ids {
				licensed[id] = true
			}
		}
	}
	if len(licensed) == 0 {
		return fmt.Errorf("module %s %s has no license in %s", m.Path, m.Version, filepath.Base(m.dir))
	}
	m.Licenses = slices.Sorted(maps.Keys(licensed))
	return nil
}

// Expression is the license of the module as SPDX writes it.
func (m *Module) Expression() string { return strings.Join(m.Licenses, " AND ") }

// Notices is the text of all licenses of some modules, each once.
func Notices(modules []*Module) []byte {
	var out strings.Builder
	out.WriteString("The programs of this release of toolman have parts of the following modules in them.\n\n")
	for _, m := range modules {
		fmt.Fprintf(&out, "  %s %s: %s\n", m.title(), m.Version, m.Expression())
	}
	for _, m := range modules {
		for _, t := range m.Texts {
			fmt.Fprintf(&out, "\n%s\n%s %s: %s\n\n%s\n", strings.Repeat("=", 80), m.title(), m.Version, t.File, strings.TrimSpace(t.Text))
		}
	}
	return []byte(out.String())
}

func (m *Module) title() string {
	if m.Path == std {
		return "Go"
	}
	return m.Path
}

// Union joins the modules of several programs.
func Union(all ...[]*Module) []*Module {
	byPath := map[string]*Module{}
	for _, modules := range all {
		for _, m := range modules {
			known := byPath[m.Path]
			if known == nil {
				copied := *m
				byPath[m.Path] = &copied
				continue
			}
			for _, t := range m.Texts { // other packages of it may have others
				if !slices.Contains(known.Texts, t) {
					known.Texts = append(slices.Clone(known.Texts), t)
				}
			}
			known.Licenses = slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(known.Licenses), m.Licenses...))))
		}
	}
	return slices.SortedFunc(maps.Values(byPath), func(a, b *Module) int { return strings.Compare(a.Path, b.Path) })
}
