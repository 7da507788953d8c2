package toolset

import (
	"fmt"
	"strings"
)

// A Tool is one that a reference may lead to.
type Tool struct {
	Name   string // as clients see it
	Full   string // namespace and name where Name is a short form of them; else Name
	Bare   string // as its server calls it
	Server string
	RefID  string // "" when its definition has no hash
}

// An Index finds tools by either identifier.
type Index struct {
	tools  []Tool
	byName map[string]int
	byRef  map[string][]int
}

// NewIndex returns an index of tools, which are found in the order given.
func NewIndex(tools []Tool) *Index {
	x := &Index{tools: tools, byName: make(map[string]int, len(tools)), byRef: make(map[string][]int, len(tools))}
	for i, t := range tools {
		x.byName[t.Name] = i
		if t.RefID != "" {
			x.byRef[t.RefID] = append(x.byRef[t.RefID], i)
		}
	}
	return x
}

// An Outcome says what became of a reference.
type Outcome uint8

// The outcomes; see the package's description.
const (
	Match Outcome = iota
	Changed
	Renamed
	Split
	Ambiguous
	Missing
)

// String returns the outcome in a word.
func (o Outcome) String() string {
	return [...]string{"match", "changed", "renamed", "split", "ambiguous", "missing"}[o]
}

// A Resolution is where a reference, or a name or glob, leads.
type Resolution struct {
	Of      string // the reference as it is shown
	Outcome Outcome
	Tools   []string // names of the tools to use; none when it is refused or missing
	Problem string   // why not, or what there is to warn of; "" for a Match
	// Told is Problem as a client may read it: it names no tool that the index does not have. It is
	// "" for what is Missing, of which a client hears how many there are.
	Told string
}

// Resolve finds the tool that a reference means. stale allows those whose two
// identifiers do not lead to one tool.
func (x *Index) Resolve(ref Ref, stale bool) Resolution {
	named, isNamed := x.byName[ref.NamespacedName]
	hashed := x.byRef[ref.RefID]
	r := Resolution{Of: ref.String()}
	use, subject, what := named, r.Of, ""
	switch {
	case !isNamed && len(hashed) == 0:
		r.Outcome, r.Problem = Missing, "Tool not found: "+r.Of+x.moved(ref)
		return r
	case isNamed && (ref.RefID == "" || x.tools[named].RefID == ref.RefID):
		r.Tools = []string{x.tools[named].Name}
		return r
	case isNamed && len(hashed) > 0:
		r.Outcome, what = Split, "is not what it was, and what it was is now called "+x.names(hashed)
	case isNamed:
		r.Outcome, subject, what = Changed, "the definition of "+r.Of, "has changed since the toolset was saved"
	case len(hashed) > 1:
		r.Outcome, use, what = Ambiguous, hashed[0], "may be any of "+x.names(hashed)
	case ref.NamespacedName == "":
		r.Tools = []string{x.tools[hashed[0]].Name}
		return r
	default:
		r.Outcome, use, what = Renamed, hashed[0], "is now called "+x.names(hashed)
	}
	name := x.tools[use].Name
	if stale {
		r.Tools = []string{name}
	}
	r.Problem = settled(subject+" "+what, name, stale)
	if r.Told = r.Problem; !isNamed {
		r.Told = settled("a tool "+what, name, stale)
	}
	return r
}

// settled is a problem with what becomes of it: the tool is used all the same where that is allowed.
func settled(problem, name string, stale bool) string {
	if stale {
		return fmt.Sprintf("INSECURE: %s; %s is used all the same (allow_stale_refs)", problem, name)
	}
	return "SECURITY: " + problem + "; it is left out until the toolset is built again"
}

// moved names tools of other servers that are called like a missing one.
func (x *Index) moved(ref Ref) string {
	var alike []string
	for _, t := range x.tools {
		if t.Bare != "" && strings.HasSuffix(ref.NamespacedName, "_"+t.Bare) && len(alike) < 3 {
			alike = append(alike, t.Name)
		}
	}
	if len(alike) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s may be what it has become; build the toolset again to take that)", strings.Join(alike, " or "))
}

func (x *Index) names(at []int) string {
	const most = 3
	var names []string
	for _, i := range at[:min(len(at), most)] {
		names = append(names, x.tools[i].Name)
	}
	text := strings.Join(names, " or ")
	if len(at) > most {
		text += fmt.Sprintf(" or %d others", len(at)-most)
	}
	return text
}

// Match finds the tools of a name or glob.
func (x *Index) Match(p Pattern) Resolution {
	r := Resolution{Of: p.Text}
	if i, ok := x.byName[p.Text]; ok {
		r.Tools = []string{x.tools[i].Name}
		return r
	}
	for _, t := range x.tools {
		if p.Glob != nil && (p.Glob.Match(t.Name) || t.Full != t.Name && p.Glob.Match(t.Full)) {
			r.Tools = append(r.Tools, t.Name)
		}
	}
	if len(r.Tools) == 0 {
		r.Outcome, r.Problem = Missing, "Tool not found: "+p.Text
	}
	return r
}
