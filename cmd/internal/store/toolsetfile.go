package store

import (
	"fmt"
	"strings"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config/source"
	"toolman/router/toolset"
)

const (
	maxSets     = 1000 // toolsets in a file
	maxVersion  = 64   // bytes
	maxToolName = 1024 // bytes
)

// A savedSet is a toolset as the file has it.
type savedSet struct {
	Name        string     `json:"name"`
	Owner       string     `json:"owner,omitempty"`
	Description string     `json:"description,omitempty"`
	Version     string     `json:"version,omitempty"`
	CreatedAt   *time.Time `json:"createdAt,omitempty"`
	Tools       []savedRef `json:"tools"`
}

type savedRef struct {
	NamespacedName string `json:"namespacedName,omitempty"`
	RefID          string `json:"refId,omitempty"`
}

// FormatToolsets returns toolsets in the format of toolsets.json, in the order of their keys.
func FormatToolsets(sets map[string]toolset.Set) []byte {
	file := map[string]savedSet{}
	for key, s := range sets {
		one := savedSet{Name: s.Name, Owner: s.Owner, Description: s.Description, Version: s.Version, Tools: []savedRef{}}
		if !s.CreatedAt.IsZero() {
			one.CreatedAt = &s.CreatedAt
		}
		for _, ref := range s.Tools {
			one.Tools = append(one.Tools, savedRef(ref))
		}
		file[key] = one
	}
	return cli.IndentedJSON(file)
}

// A problem is what is wrong with a text.
type problem struct {
	line int
	msg  string
}

func (p *problem) Error() string { return fmt.Sprintf("line %d: %s", p.line, p.msg) }

func fail(line int, format string, args ...any) error {
	return &problem{line, fmt.Sprintf(format, args...)}
}

// readToolsetFile reads a text that is one object. read reads each member.
func readToolsetFile(text []byte, read func(m source.Member) error) error {
	root, p := source.Parse("json", text)
	if p != nil {
		return &problem{p.Line, p.Msg}
	}
	return readObject(root, "the file", read)
}

func readObject(n source.Node, what string, read func(m source.Member) error) error {
	members, ok := n.Value.([]source.Member)
	if !ok {
		return fail(n.Line, "%s must be an object", what)
	}
	for _, m := range members {
		if err := read(m); err != nil {
			return err
		}
	}
	return nil
}

// readString reads a string that valid accepts; rule describes it.
func readString(m source.Member, into *string, rule string, valid func(string) bool) error {
	s, ok := m.Value.(string)
	if !ok || !valid(s) {
		return fail(m.Line, "%s must be a string: %s", m.Key, rule)
	}
	*into = s
	return nil
}

// readText reads a string of up to so many bytes.
func readText(m source.Member, into *string, most int) error {
	return readString(m, into, fmt.Sprintf("up to %d bytes", most), func(s string) bool { return len(s) <= most })
}

// parseToolsets parses toolsets in the format of toolsets.json, by [toolset.Set.Key].
func parseToolsets(text []byte) (map[string]toolset.Set, error) {
	sets := map[string]toolset.Set{}
	err := readToolsetFile(text, func(m source.Member) error {
		if len(sets) == maxSets {
			return fail(m.Line, "there are more than %d toolsets", maxSets)
		}
		set, err := readSet(m)
		sets[m.Key] = set
		return err
	})
	if err != nil {
		return nil, err
	}
	return sets, nil
}

// readSet reads a toolset. Its key is its name, or its owner, a slash and its name.
func readSet(m source.Member) (s toolset.Set, err error) {
	owner, name, owned := strings.Cut(m.Key, "/")
	if !owned {
		owner, name = "", m.Key
	}
	if owned && !toolset.ValidOwner(owner) {
		return s, fail(m.Line, "%q is no owner of a toolset: %s", owner, toolset.OwnerRule)
	}
	if !toolset.ValidName(name) {
		return s, fail(m.Line, "%q is no name of a toolset: %s", name, toolset.NameRule)
	}
	err = readObject(m.Node, name, func(m source.Member) error {
		switch m.Key {
		case "name":
			return readString(m, &s.Name, "the name that the toolset stands under", func(n string) bool { return n == name })
		case "owner":
			return readString(m, &s.Owner, "the owner that stands before the name", func(o string) bool { return owned && o == owner })
		case "description":
			return readText(m, &s.Description, toolset.MaxDescription)
		case "version":
			return readText(m, &s.Version, maxVersion)
		case "createdAt":
			var at string
			return readString(m, &at, `a time like "2024-01-15T10:30:00Z"`, func(text string) bool {
				if s.CreatedAt, err = time.Parse(time.RFC3339, text); err == nil {
					_, err = s.CreatedAt.MarshalText() // which accepts fewer offsets from UTC
				}
				return err == nil
			})
		case "tools":
			s.Tools = []toolset.Ref{}
			return readTools(m, &s)
		}
		return fail(m.Line, "%q is not known in a toolset; was this written by another program, or by a later version of this one?", m.Key)
	})
	switch {
	case err != nil:
	case s.Name == "" || s.Tools == nil:
		err = fail(m.Line, "the toolset %s needs name and tools", name)
	case s.Owner != owner:
		err = fail(m.Line, "the toolset %s needs owner, since one stands before its name", name)
	}
	return s, err
}

func readTools(m source.Member, s *toolset.Set) error {
	elems, ok := m.Value.([]source.Node)
	if !ok {
		return fail(m.Line, "%s must be an array", m.Key)
	}
	if len(elems) > toolset.MaxTools {
		return fail(m.Line, "there are more than %d tools", toolset.MaxTools)
	}
	for _, n := range elems {
		var ref toolset.Ref
		err := readObject(n, "a tool", func(m source.Member) error {
			switch m.Key {
			case "namespacedName":
				return readString(m, &ref.NamespacedName, fmt.Sprintf("1 to %d bytes", maxToolName), func(n string) bool { return n != "" && len(n) <= maxToolName })
			case "refId":
				return readString(m, &ref.RefID, "sha256: and 64 hexadecimal digits", toolset.ValidRefID)
			}
			return fail(m.Line, "%q is not known in a tool; it has namespacedName and refId", m.Key)
		})
		if err == nil && ref == (toolset.Ref{}) {
			err = fail(n.Line, "a tool needs namespacedName or refId")
		}
		if err != nil {
			return err
		}
		s.Tools = append(s.Tools, ref)
	}
	return nil
}
