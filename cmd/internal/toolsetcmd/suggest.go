package toolsetcmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"toolman/cmd/internal/auditlog"
	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/grouping"
	"toolman/cmd/internal/setup"
	"toolman/mcpwire/sanitize"
	"toolman/router/audit"
	"toolman/router/catalog"
	"toolman/router/toolset"
)

const suggestHelp = `suggest reads the audit log and its rotated files, and prints toolsets of tools that are used in
the same sessions, ready to paste into tools.toml (with --json: into tools.json). It also
starts every server and lists the tools that no call has used, with what the definition of each
costs a model that gets it.`

// A suggestion is what suggest prints as JSON.
type suggestion struct {
	From         source                  `json:"from"`
	Toolsets     map[string]suggestedSet `json:"toolsets"`
	Unused       []*unusedTool           `json:"unused"`
	UnusedTokens int                     `json:"unused_tokens_estimate"`
	NotOffered   []string                `json:"not_offered"` // called, and not there now
	names        []string                // of Toolsets, in order
}

type source struct {
	File       string     `json:"file"`
	First      *time.Time `json:"first,omitempty"`
	Last       *time.Time `json:"last,omitempty"`
	Sessions   int        `json:"sessions"`
	Calls      int        `json:"calls"`
	Unreadable int        `json:"unreadable_lines,omitempty"`
	Ignored    int        `json:"ignored_calls,omitempty"`
	Dropped    uint64     `json:"dropped_lines,omitempty"`
}

type suggestedSet struct {
	Tools       []string `json:"tools"`
	Description string   `json:"description"`
}

type unusedTool struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens_estimate"`
}

// suggest prints toolsets of tools that are used together, and tools that are not used.
func (c *command) suggest() error {
	path := c.log
	if path == "" {
		path = c.config.AuditLog
	}
	if path == "" {
		return cli.Failed(errors.New("there is no audit log to read"), `write audit_log = "audit.jsonl" in tools.toml and use toolman for a while, or name a file with --log`)
	}
	u := grouping.New()
	s := &suggestion{Toolsets: map[string]suggestedSet{}, Unused: []*unusedTool{}, NotOffered: []string{}}
	if err := s.read(path, c.since, u); err != nil {
		return err
	}
	if u.Calls == 0 {
		return cli.Failed(fmt.Errorf("%s has no call of a tool to learn from", path), "use toolman for a while with audit_log, or give a longer --since")
	}
	offered, err := c.catalog()
	if err != nil {
		return err
	}
	sets, err := setup.AllSets(&c.o)
	if err != nil {
		return err
	}
	s.compare(u, offered, sets)
	if c.asJSON {
		_, err := c.OutOrStdout().Write(cli.IndentedJSON(s))
		return err
	}
	return s.print(c.OutOrStdout())
}

// read counts what the log at path says. since is a duration before now; 0 is everything.
func (s *suggestion) read(path string, since time.Duration, u *grouping.Usage) error {
	files, err := auditlog.Files(path)
	if err != nil {
		return cli.Failed(fmt.Errorf("the audit log cannot be read: %w", err), "toolman creates it when it runs with audit_log")
	}
	var from time.Time
	if since > 0 {
		from = time.Now().Add(-since)
	}
	sum, err := auditlog.Read(files, from, func(l *audit.Line) { u.Add(l) })
	if err != nil {
		return err
	}
	s.From = source{File: path, Sessions: u.Sessions(), Calls: u.Calls, Unreadable: sum.Unreadable, Ignored: u.Ignored, Dropped: sum.Dropped}
	if sum.Lines > 0 {
		s.From.First, s.From.Last = &sum.First, &sum.Last
	}
	return nil
}

// compare compares usage with what is offered, and with the toolsets that exist.
func (s *suggestion) compare(u *grouping.Usage, offered *catalog.Catalog, sets []toolset.Set) {
	tools := map[string]*catalog.Entry{}
	for _, e := range offered.Tools() {
		tools[e.Name] = e
		if u.CallsOf(e.Name) == 0 {
			n := catalog.Tokens(len(e.AppendListed(nil, e.Source.Modern, false)))
			s.Unused = append(s.Unused, &unusedTool{sanitize.Line(e.Name), n})
			s.UnusedTokens += n
		}
	}
	slices.SortFunc(s.Unused, func(a, b *unusedTool) int { return cmp.Or(b.Tokens-a.Tokens, cmp.Compare(a.Name, b.Name)) })
	for _, name := range u.Names() {
		if tools[name] == nil {
			s.NotOffered = append(s.NotOffered, sanitize.Line(name))
		}
	}
	taken := map[string]bool{}
	var existing [][]string
	for i := range sets {
		taken[sets[i].Name] = true
		var has []string
		for name := range offered.Expand(&sets[i]).Tools {
			has = append(has, name)
		}
		slices.Sort(has)
		existing = append(existing, has)
	}
	for _, g := range u.Groups(func(name string) bool { return tools[name] != nil }) {
		if slices.ContainsFunc(existing, func(has []string) bool { return slices.Equal(has, g.Tools) }) {
			continue
		}
		name := nameOf(g, tools, taken)
		taken[name] = true
		s.names = append(s.names, name)
		s.Toolsets[name] = suggestedSet{g.Tools, fmt.Sprintf("Used together in %d of %s", g.Sessions, cli.Count(u.Sessions(), "session"))}
	}
}

// nameOf returns a name for a group that is not taken: that of its servers.
func nameOf(g *grouping.Group, tools map[string]*catalog.Entry, taken map[string]bool) string {
	var servers []string
	for _, tool := range g.Tools {
		if s := tools[tool].Source.PolicyName; s != "" && !slices.Contains(servers, s) {
			servers = append(servers, s)
		}
	}
	const room = len("-1000")
	base := strings.Join(append(servers, "together"), "-")
	if !toolset.ValidName(base + strings.Repeat("x", room)) {
		base = "together"
	}
	name := base
	for i := 2; taken[name]; i++ {
		name = fmt.Sprintf("%s-%d", base, i)
	}
	return name
}

// maxListed is how many names of a kind the text has. The JSON has all.
const maxListed = 50

func (s *suggestion) print(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s of tools in %s", sanitize.Line(s.From.File), cli.Count(s.From.Calls, "call"), cli.Count(s.From.Sessions, "session"))
	if s.From.First != nil {
		fmt.Fprintf(&b, ", %s to %s", s.From.First.Format(time.DateOnly), s.From.Last.Format(time.DateOnly))
	}
	b.WriteString("\n")
	for _, missing := range []struct {
		n           int
		thing, what string
	}{{s.From.Unreadable, "line", "could not be read"}, {int(s.From.Dropped), "line", "could not be written"}, {s.From.Ignored, "call", "exceeded what suggest counts"}} {
		if missing.n > 0 {
			fmt.Fprintf(&b, "# %s %s\n", cli.Count(missing.n, missing.thing), missing.what)
		}
	}
	if len(s.names) == 0 {
		b.WriteString("\n# No tools are used together often enough for another toolset.\n")
	}
	for _, name := range s.names {
		set := s.Toolsets[name]
		fmt.Fprintf(&b, "\n[toolsets.%s]\ntools = [\n", tomlKey(name))
		for _, tool := range set.Tools {
			fmt.Fprintf(&b, "  %s,\n", tomlString(tool))
		}
		fmt.Fprintf(&b, "]\ndescription = %s\n", tomlString(set.Description))
	}
	if len(s.Unused) > 0 {
		fmt.Fprintf(&b, "\n# Not used: %s, whose definitions are about %d tokens\n", cli.Count(len(s.Unused), "tool"), s.UnusedTokens)
	}
	for i, t := range s.Unused {
		if i == maxListed {
			fmt.Fprintf(&b, "#   and %d more; --json has them\n", len(s.Unused)-i)
			break
		}
		fmt.Fprintf(&b, "#   %s  %d\n", t.Name, t.Tokens)
	}
	if n := len(s.NotOffered); n > 0 {
		fmt.Fprintf(&b, "\n# Used, but not there now: %s", strings.Join(s.NotOffered[:min(n, maxListed)], ", "))
		if n > maxListed {
			fmt.Fprintf(&b, " and %d more", n-maxListed)
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// tomlKey returns the name of a toolset as a key.
func tomlKey(name string) string {
	if strings.Contains(name, ".") {
		return tomlString(name)
	}
	return name
}

// tomlString returns a string of TOML, which JSON's are but for one character.
func tomlString(s string) string {
	return strings.ReplaceAll(string(cli.JSON(s)), "\x7f", `\u007f`)
}
