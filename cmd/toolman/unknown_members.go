package main

import (
	"fmt"
	"slices"
	"strings"

	"toolman/mcpwire/sanitize"
	"toolman/router/catalog"
)

// How many members that MCP does not have are named for a server, and how much of a name.
const (
	maxUnknown     = 10
	maxUnknownName = 40 // characters
)

// unknownMembers says, a line each, which servers give items members that MCP does not have.
// Clients may show them to a model, and no pin covers them. Items that need no pin do not count.
func unknownMembers(offered *catalog.Catalog, unpinned catalog.Globs) []string {
	type unknown struct {
		server, first string
		items         int
		names         []string
	}
	var all []*unknown
	of := map[*catalog.Source]*unknown{}
	for _, e := range offered.All() {
		members := e.Item.UnknownMembers()
		if len(members) == 0 || unpinned.Match(e) {
			continue
		}
		u := of[e.Source]
		if u == nil {
			u = &unknown{server: e.Source.Name, first: fmt.Sprintf("%s %s", e.Item.Kind, sanitize.Visible(e.Name))}
			of[e.Source], all = u, append(all, u)
		}
		u.items++
		for _, name := range members {
			if r := []rune(name); len(r) > maxUnknownName {
				name = string(r[:maxUnknownName]) + "…"
			}
			if name = sanitize.Visible(name); !slices.Contains(u.names, name) && len(u.names) < maxUnknown {
				u.names = append(u.names, name)
			}
		}
	}
	var lines []string
	for _, u := range all {
		lines = append(lines, fmt.Sprintf("server %s gives %s members that MCP does not have and pins do not cover: %s (the first is %s)",
			u.server, counted(u.items, "item"), strings.Join(u.names, ", "), u.first))
	}
	return lines
}
