package toolset

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

// Warnings are the problems of all that was not a plain match, in order.
func (e *Expansion) Warnings() []string {
	warnings := []string{}
	for _, r := range e.Resolutions {
		if r.Problem != "" {
			warnings = append(warnings, r.Problem)
		}
	}
	return warnings
}
