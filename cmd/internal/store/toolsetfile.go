package store

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/config/table"
	"toolman/mcpwire/sanitize"
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
	NamelessRefID  string `json:"namelessRefId,omitempty"`
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

// decodeFile parses a text that is one object. read gets the object and adds problems, of which the
// first is the error. path names the file in the error.
func decodeFile(path string, text []byte, read func(root source.Node, p *source.Problems)) error {
	p := &source.Problems{File: path, Format: "json"}
	root, bad := source.Parse("json", text)
	if bad != nil {
		p.Fail(bad.Line, bad.Hint, "%s", bad.Msg)
	} else {
		read(root, p)
	}
	if e, ok := errors.AsType[*source.Error](p.Err()); ok {
		return errors.New(e.Problems[0].String())
	}
	return nil
}

// parseToolsets parses toolsets in the format of toolsets.json, by [toolset.Set.Key].
func parseToolsets(path string, text []byte) (map[string]toolset.Set, error) {
	sets := map[string]toolset.Set{}
	err := decodeFile(path, text, func(root source.Node, p *source.Problems) {
		for i, m := range root.Value.([]source.Member) {
			if i == maxSets {
				p.Fail(m.Line, "delete some", "there are more than %d toolsets", maxSets)
				return
			}
			sets[m.Key] = readSet(table.New(p, source.Node{Value: []source.Member{m}}, "", m.Key), m.Key)
		}
	})
	return sets, err
}

// readSet reads the toolset with a key. The key is its name, or its owner, a slash and its name.
func readSet(file table.Table, key string) (s toolset.Set) {
	owner, name, owned := strings.Cut(key, "/")
	if !owned {
		owner, name = "", key
	}
	switch {
	case owned && !toolset.ValidOwner(owner):
		file.FailAt(key, "write "+toolset.OwnerRule, "%q is no owner of a toolset", owner)
	case !toolset.ValidName(name):
		file.FailAt(key, "write "+toolset.NameRule, "%q is no name of a toolset", name)
	}
	t, _ := file.Inner(key, sanitize.Line(key), "name", "owner", "description", "version", "createdAt", "tools")
	s.Name = textOf(t, "name", "write the name that the toolset stands under", func(n string) bool { return n == name })
	s.Owner = textOf(t, "owner", "write the owner that stands before the name", func(o string) bool { return o == owner })
	s.Description = textOf(t, "description", fmt.Sprintf("write up to %d bytes", toolset.MaxDescription), func(d string) bool { return len(d) <= toolset.MaxDescription })
	s.Version = textOf(t, "version", fmt.Sprintf("write up to %d bytes", maxVersion), func(v string) bool { return len(v) <= maxVersion })
	textOf(t, "createdAt", `write a time like "2024-01-15T10:30:00Z"`, func(at string) (ok bool) {
		var err error
		if s.CreatedAt, err = time.Parse(time.RFC3339, at); err == nil {
			_, err = s.CreatedAt.MarshalText() // which accepts fewer offsets from UTC
		}
		return err == nil
	})
	switch {
	case !t.Has("name") || !t.Has("tools"):
		t.Fail(t.Line, "add them", "the toolset %s needs name and tools", name)
	case s.Owner != owner:
		t.Fail(t.Line, "add it", "the toolset %s needs owner, since one stands before its name", name)
	}
	s.Tools = readTools(t)
	return s
}

// textOf reads a string that valid accepts; hint is for others.
func textOf(t table.Table, key, hint string, valid func(string) bool) string {
	s, ok := t.Text(key, `"…"`)
	if ok && !valid(s) {
		t.Outside(key, hint)
	}
	return s
}

func readTools(t table.Table) []toolset.Ref {
	refs := []toolset.Ref{}
	for i, n := range t.Tables("tools", "tool", `"namespacedName": …`) {
		if i == toolset.MaxTools {
			t.FailAt("tools", "leave some out", "there are more than %d tools", toolset.MaxTools)
			break
		}
		tool := table.New(t.Problems, n, "in a tool", "namespacedName", "refId", "namelessRefId")
		ref := toolset.Ref{
			NamespacedName: textOf(tool, "namespacedName", fmt.Sprintf("write 1 to %d bytes", maxToolName), func(n string) bool { return n != "" && len(n) <= maxToolName }),
			RefID:          textOf(tool, "refId", "write sha256: and 64 hexadecimal digits", toolset.ValidRefID),
			NamelessRefID:  textOf(tool, "namelessRefId", "write sha256: and 64 hexadecimal digits", toolset.ValidRefID),
		}
		if ref.NamespacedName == "" && ref.RefID == "" {
			t.Fail(n.Line, `add one of them`, "a tool needs namespacedName or refId")
		}
		refs = append(refs, ref)
	}
	return refs
}
