package toolset

import "fmt"

// An Expansion is what a set stands for, given the tools that there are.
type Expansion struct {
	Set         *Set
	Resolutions []Resolution // one for each reference or pattern, in their order
	Tools       map[string]bool
}

// Expand resolves a whole set. stale is as for [Index.Resolve].
func (x *Index) Expand(s *Set, stale bool) *Expansion {
	e := &Expansion{Set: s, Tools: map[string]bool{}}
	for _, p := range s.Patterns {
		e.add(x.Match(p))
	}
	for _, ref := range s.Tools {
		e.add(x.Resolve(ref, stale))
	}
	return e
}

func (e *Expansion) add(r Resolution) {
	e.Resolutions = append(e.Resolutions, r)
	for _, name := range r.Tools {
		e.Tools[name] = true
	}
}

// Warnings are the problems of all that was not a plain match, in order, as a client may read them.
// References that lead nowhere are counted last. A client has to learn neither their names nor
// whether there are such tools for others.
func (e *Expansion) Warnings() []string {
	warnings := []string{}
	missing := 0
	for _, r := range e.Resolutions {
		switch {
		case r.Told != "":
			warnings = append(warnings, r.Told)
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
