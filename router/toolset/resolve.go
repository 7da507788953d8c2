package toolset

import (
	"fmt"
	"strings"
)

// A Tool is a tool that references can name.
type Tool struct {
	Name  string   // for clients
	Full  string   // namespace and name, if Name is a short form of them; otherwise Name
	Bare  string   // its server's name for it
	Other []string // names of the form server.name, which several tools may have
	RefID string   // "" if its definition has no hash

	Server        string // its server's name in policies
	NamelessRefID string // the hash of the definition without its name; "" if that says too little
}

// An Index finds tools by name and by hash.
type Index struct {
	tools      []Tool
	byName     map[string]int
	byRef      map[string][]int
	byNameless map[string][]int
	byOther    map[string][]int
}

// NewIndex returns an index of tools. It finds them in this order.
func NewIndex(tools []Tool) *Index {
	x := &Index{tools: tools, byName: make(map[string]int, len(tools)), byRef: make(map[string][]int, len(tools)),
		byNameless: make(map[string][]int, len(tools)), byOther: make(map[string][]int, len(tools))}
	for i, t := range tools {
		x.byName[t.Name] = i
		if t.RefID != "" {
			x.byRef[t.RefID] = append(x.byRef[t.RefID], i)
		}
		for _, name := range t.Other {
			x.byOther[name] = append(x.byOther[name], i)
		}
		if t.NamelessRefID != "" {
			x.byNameless[t.NamelessRefID] = append(x.byNameless[t.NamelessRefID], i)
		}
	}
	return x
}

// An Outcome is the result of resolving a reference.
type Outcome uint8

// The outcomes; see the table in the package comment.
const (
	Match Outcome = iota
	Changed
	Renamed
	Split
	Ambiguous
	Missing
	Alike
	Broken
)

// String returns the outcome in one word.
func (o Outcome) String() string {
	return [...]string{"match", "changed", "renamed", "split", "ambiguous", "missing", "alike", "broken"}[o]
}

// NotThere reports whether neither the name nor the hash leads to a tool.
func (o Outcome) NotThere() bool { return o == Missing || o == Alike }

// A Resolution is the result of resolving a reference, name or glob.
type Resolution struct {
	Of      string // the reference, for messages
	Outcome Outcome
	Tools   []string // names of the tools to use; none if it is refused or missing
	Problem string   // an error or a warning; "" for a Match
	// ClientProblem is Problem in a form for clients: it names only tools in the index. It is ""
	// for Missing, of which a client gets only the number.
	ClientProblem string
	// The tools that are refused: the one that the name leads to, and those that the hash leads to.
	RefusedByName string
	RefusedByHash []string
}

// Resolve finds the tool of a reference. stale allows references whose identifiers do not lead to
// the same tool.
func (x *Index) Resolve(ref Ref, stale bool) Resolution { return x.resolve(ref, stale, nil) }

// resolve is Resolve for a reference of a set that names these tools.
func (x *Index) resolve(ref Ref, stale bool, named map[string]bool) Resolution {
	at, isNamed := x.byName[ref.NamespacedName]
	if !isNamed {
		at, isNamed = x.other(ref)
	}
	hashed := x.byRef[ref.RefID]
	r := Resolution{Of: ref.String()}
	if ref.Broken != "" {
		r.Outcome, r.Problem, r.ClientProblem = Broken, "SECURITY: the reference to "+r.Of+leftOut+" until the toolset is built again: "+ref.Broken, "SECURITY: a reference"+leftOut
		if isNamed {
			r.RefusedByName = x.tools[at].Name
		}
		return r
	}
	use, subject, what := at, r.Of, ""
	switch {
	case !isNamed && len(hashed) == 0:
		r.Outcome, r.Problem = Missing, "Tool not found: "+r.Of+x.moved(ref)
		if alike := x.alike(ref, named); len(alike) > 0 {
			hint := mayBe(x.names(alike))
			r.Outcome, r.Problem, r.ClientProblem = Alike, "Tool not found: "+r.Of+hint, "a tool is not there"+hint
		}
		return r
	case isNamed && (ref.RefID == "" || x.tools[at].RefID == ref.RefID):
		r.Tools = []string{x.tools[at].Name}
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
	clientSubject := subject
	if !isNamed {
		clientSubject = "a tool"
	}
	if stale {
		r.Tools = []string{name}
		used := fmt.Sprintf("; %s is used all the same (allow_stale_refs)", name)
		r.Problem, r.ClientProblem = "INSECURE: "+subject+" "+what+used, "INSECURE: "+clientSubject+" "+what+used
		return r
	}
	// Clients are not told what would make the tool usable again.
	r.Problem = "SECURITY: " + subject + " " + what + "; it is left out until the toolset is built again"
	r.ClientProblem = "SECURITY: " + clientSubject + " " + what + "; it is left out"
	if isNamed {
		r.RefusedByName = name
	}
	for _, i := range hashed {
		r.RefusedByHash = append(r.RefusedByHash, x.tools[i].Name)
	}
	return r
}

const leftOut = " cannot be used, and is left out"

// other finds the tool of a reference by a name of the form server.name. If several tools have it,
// the hash decides.
func (x *Index) other(ref Ref) (at int, ok bool) {
	all := x.byOther[ref.NamespacedName]
	if len(all) == 1 {
		return all[0], true
	}
	for _, i := range all {
		if ref.RefID != "" && x.tools[i].RefID == ref.RefID {
			return i, true
		}
	}
	return 0, false
}

// moved suggests tools of other servers with the name of a missing one.
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
	return mayBe(strings.Join(alike, " or "))
}

// alike returns the tools with the definition of a reference, but for the name. It leaves out those
// that the set names, too.
func (x *Index) alike(ref Ref, named map[string]bool) (alike []int) {
	for _, i := range x.byNameless[ref.NamelessRefID] {
		if !named[x.tools[i].Name] {
			alike = append(alike, i)
		}
	}
	return alike
}

func mayBe(names string) string {
	return " (" + names + " may be what it has become; build the toolset again to take that)"
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

// Match finds the tools that a pattern matches.
func (x *Index) Match(p Pattern) Resolution {
	r := Resolution{Of: p.Text}
	if i, ok := x.byName[p.Text]; ok {
		r.Tools = []string{x.tools[i].Name}
		return r
	}
	for _, t := range x.tools {
		if p.Server != "" && p.Server == t.Server || p.Glob != nil && (p.Glob.Match(t.Name) || t.Full != t.Name && p.Glob.Match(t.Full)) {
			r.Tools = append(r.Tools, t.Name)
		}
	}
	if all := x.byOther[p.Text]; len(r.Tools) == 0 && len(all) == 1 {
		r.Tools = []string{x.tools[all[0]].Name}
	} else if len(r.Tools) == 0 && len(all) > 1 {
		r.Outcome, r.Problem = Ambiguous, p.Text+" may be "+x.names(all)+"; use one of these names"
		r.ClientProblem = r.Problem
	} else if len(r.Tools) == 0 {
		r.Outcome, r.Problem = Missing, "Tool not found: "+p.Text
	}
	return r
}

// An Expansion is the result of resolving a set.
type Expansion struct {
	Set         *Set
	Resolutions []Resolution // one for each pattern and reference, in their order; of a broken set one
	Tools       map[string]bool
}

// Expand resolves a set. stale is that of [Index.Resolve].
func (x *Index) Expand(s *Set, stale bool) *Expansion {
	e := &Expansion{Set: s, Tools: map[string]bool{}}
	if s.Broken != "" {
		problem := s.String() + " cannot be used: " + s.Broken
		e.Resolutions = []Resolution{{Of: s.Name, Outcome: Broken, Problem: problem, ClientProblem: problem}}
		return e
	}
	for _, p := range s.Patterns {
		e.Resolutions = append(e.Resolutions, x.Match(p))
	}
	named := map[string]bool{}
	for _, ref := range s.Tools {
		named[ref.NamespacedName] = true
	}
	for _, ref := range s.Tools {
		e.Resolutions = append(e.Resolutions, x.resolve(ref, stale, named))
	}
	for _, r := range e.Resolutions {
		for _, name := range r.Tools {
			e.Tools[name] = true
		}
	}
	return e
}

// Warnings returns the problems in a form for clients, in order. The last one is the number of
// missing tools: a client must not learn their names, nor whether they exist for others.
func (e *Expansion) Warnings() []string {
	warnings := []string{}
	missing := 0
	for _, r := range e.Resolutions {
		switch {
		case r.ClientProblem != "":
			warnings = append(warnings, r.ClientProblem)
		case r.Problem != "":
			missing++
		}
	}
	switch missing {
	case 0:
	case 1:
		warnings = append(warnings, "1 tool is not there")
	default:
		warnings = append(warnings, fmt.Sprintf("%d tools are not there", missing))
	}
	return warnings
}
