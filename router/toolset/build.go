package toolset

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// maxProblems bounds how many tools an error of Build names.
const maxProblems = 10

// Build returns a new set of tools that are there, each reference with both
// identifiers. similar, which may be nil, returns names that may be meant by one that
// is unknown. An error names every reference that does not lead to one tool.
func (x *Index) Build(name, description string, refs []Ref, at time.Time, similar func(name string) []string) (Set, error) {
	set := Set{Name: name, Description: description, Version: "1.0.0", CreatedAt: at.UTC().Truncate(time.Second)}
	if err := set.check(len(refs)); err != nil {
		return set, err
	}
	var problems []string
	had := map[string]bool{}
	for _, ref := range refs {
		full, err := x.complete(ref, similar)
		if err != nil {
			problems = append(problems, err.Error())
		} else if !had[full.NamespacedName] {
			had[full.NamespacedName] = true
			set.Tools = append(set.Tools, full)
		}
	}
	if more := len(problems) - maxProblems; more > 0 {
		problems = append(problems[:maxProblems], fmt.Sprintf("and %d more", more))
	}
	if len(problems) > 0 {
		return set, fmt.Errorf("nothing was saved: %s", strings.Join(problems, "; "))
	}
	return set, nil
}

func (s *Set) check(tools int) error {
	switch {
	case !ValidName(s.Name):
		return fmt.Errorf("the name of a toolset is %s", NameRule)
	case len(s.Description) > MaxDescription:
		return fmt.Errorf("the description is longer than %d bytes", MaxDescription)
	case tools == 0:
		return errors.New("a toolset needs at least one tool")
	case tools > MaxTools:
		return fmt.Errorf("a toolset has at most %d tools, not %d", MaxTools, tools)
	}
	return nil
}

// complete returns a reference with both identifiers of the tool that it leads to.
func (x *Index) complete(ref Ref, similar func(string) []string) (Ref, error) {
	if ref == (Ref{}) {
		return ref, errors.New("a tool needs namespacedName or refId")
	}
	r := x.Resolve(ref, false)
	if len(r.Tools) != 1 {
		text := r.Problem
		if r.Outcome == Missing && similar != nil {
			if near := similar(ref.NamespacedName); len(near) > 0 {
				text += " (did you mean " + strings.Join(near, " or ") + "?)"
			}
		}
		return ref, errors.New(text)
	}
	t := x.tools[x.byName[r.Tools[0]]]
	if t.RefID == "" {
		return ref, fmt.Errorf("%s has no one definition that could be told from another; its server has to mend it", t.Name)
	}
	return Ref{t.Name, t.RefID}, nil
}
