package diagnosis

import (
	"fmt"
	"slices"
	"strings"

	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/catalog"
)

const (
	// longestPrefix is what Claude Code, Codex and others put before the names of a server called
	// toolman. Gemini CLI's is shorter, but so is what it takes.
	longestPrefix = "mcp__toolman__"
	maxName       = 64 // characters of a name that clients and model APIs take

	maxNamed = 5 // items that a finding names
)

// unusual matches a name that toolman offers and that model APIs do not take as it is.
var unusual = lazy(`[^A-Za-z0-9_-]`)

// Items returns what clients may have trouble with in what a server offers, and what is not offered
// to them.
func Items(s *Server, offered *catalog.Catalog) (all []Finding) {
	of := func(e *catalog.Entry) bool { return e.Source.Name == s.Status.Name }
	var changed, long, signs []string
	objections := map[string][]string{} // tools by objection
	var order []string
	for _, e := range offered.Entries(mcpwire.Tool) {
		if !of(e) {
			continue
		}
		switch name := sanitize.Line(e.Name); {
		case e.Shortened():
			changed = append(changed, name)
		case len(longestPrefix+e.Name) > maxName:
			long = append(long, name)
		case unusual().MatchString(e.Name):
			signs = append(signs, name)
		}
		for _, why := range Objections(e.Item.Raw) {
			if objections[why] == nil {
				order = append(order, why)
			}
			objections[why] = append(objections[why], sanitize.Line(e.Name))
		}
	}
	add := func(id, summary, fix string, names []string) {
		if len(names) > 0 {
			all = append(all, s.note(id, summary+": "+some(names), fix))
		}
	}
	add("name-changed", "clients do not take the names of these tools, which have other names here", "nothing: calls reach the tools under the new names", changed)
	add("name-too-long", fmt.Sprintf("with %s before them, as Claude Code and Codex write them, these names have more than %d characters", longestPrefix, maxName),
		s.shorter(), long)
	add("name-characters", "model APIs take no . in names, and clients change or leave out these", "if one is missing in a client, have the server name it with _", signs)
	for _, why := range order {
		add("schema-rejected", why, "if a client reports an error 400 of its model, keep these tools inactive: active_toolsets decides; and tell the authors of the server", objections[why])
	}
	var lost, held []string
	by := ""
	for _, c := range offered.Collisions {
		if of(c.Loser) {
			lost, by = append(lost, sanitize.Line(c.Loser.Name)), sanitize.Line(c.By)
		}
	}
	for _, e := range offered.Held() {
		if of(e) {
			held = append(held, sanitize.Line(e.Name))
		}
	}
	if len(lost) > 0 {
		all = append(all, s.problem("name-collision", by+" has these names already, and they are not offered: "+some(lost), "give the server another namespace: "+s.write("namespace", `"`+s.Namespace+`2"`)))
	}
	if len(held) > 0 {
		all = append(all, s.problem("pins-held", "these are not as tools.lock has them, and held back: "+some(held), "toolman lock --diff shows what has changed, and toolman lock --accept NAME... takes it"))
	}
	return all
}

// some returns the first names, and how many more there are.
func some(names []string) string {
	if more := len(names) - maxNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), more)
	}
	return strings.Join(names, ", ")
}

// shorter says how names get shorter.
func (s *Server) shorter() string {
	short := abbreviated(s.Namespace)
	if len(short) >= len(s.Namespace) {
		return "have the server give them shorter names; its namespace is short already"
	}
	return s.write("namespace", `"`+short+`"`) + ", or use another short one"
}

// abbreviated returns a short namespace.
func abbreviated(namespace string) string {
	words := strings.FieldsFunc(namespace, func(r rune) bool { return r == '-' || r == '_' })
	short := ""
	for _, w := range words {
		short += w[:1]
	}
	if len(short) > 1 {
		return short
	}
	return strings.ToLower(namespace[:min(2, len(namespace))])
}

// Sort puts problems before notes, and otherwise keeps the order.
func Sort(all []Finding) {
	slices.SortStableFunc(all, func(a, b Finding) int { return strings.Compare(string(b.Level), string(a.Level)) })
}
