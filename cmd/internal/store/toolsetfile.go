package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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
	maxToolName = 1024 // bytes
)

// A savedSet is a toolset as the file has it.
type savedSet struct {
	Name        string     `json:"name"`
	Owner       string     `json:"owner,omitempty"`
	Description string     `json:"description,omitempty"`
	Version     string     `json:"version,omitempty"`
	CreatedAt   *time.Time `json:"createdAt,omitempty"`
	Tools       []any      `json:"tools"`
}

type savedRef struct {
	NamespacedName string `json:"namespacedName,omitempty"`
	RefID          string `json:"refId,omitempty"`
	NamelessRefID  string `json:"namelessRefId,omitempty"`
}

// FormatToolsets returns toolsets in the format of toolsets.json, in the order of their keys. What
// is broken stays as it was.
func FormatToolsets(sets map[string]toolset.Set) []byte {
	file := map[string]any{}
	for key, s := range sets {
		if s.Broken != "" {
			file[key] = json.RawMessage(s.Raw)
			continue
		}
		one := savedSet{Name: s.Name, Owner: s.Owner, Description: s.Description, Version: s.Version, Tools: []any{}}
		if !s.CreatedAt.IsZero() {
			one.CreatedAt = &s.CreatedAt
		}
		for _, ref := range s.Tools {
			if ref.Broken != "" {
				one.Tools = append(one.Tools, json.RawMessage(ref.Raw))
			} else {
				one.Tools = append(one.Tools, savedRef{ref.NamespacedName, ref.RefID, ref.NamelessRefID})
			}
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

// A setFile is a text in the format of toolsets.json. A toolset or reference that cannot be read is
// broken and does not affect the others.
type setFile struct {
	path string // for an error
	name string // for what is wrong with a part of it
	text []byte
	one  bool // it may be a single toolset instead

	members map[string]json.RawMessage // of text; read if a part is broken
}

// parse returns the toolsets by their keys.
func (f *setFile) parse() (map[string]toolset.Set, error) {
	sets := map[string]toolset.Set{}
	err := decodeFile(f.path, f.text, func(root source.Node, p *source.Problems) {
		members := root.Value.([]source.Member)
		if key, one := oneSet(members); one && f.one {
			sets[key] = f.set(key, root, true)
			return
		}
		for i, m := range members {
			if i == maxSets {
				p.Fail(m.Line, "delete some", "there are more than %d toolsets", maxSets)
				return
			}
			sets[m.Key] = f.set(m.Key, m.Node, false)
		}
	})
	return sets, err
}

// oneSet reports whether a file is a single toolset instead of an object of toolsets, and returns
// its key.
func oneSet(file []source.Member) (key string, one bool) {
	var name, owner string
	for _, m := range file {
		switch m.Key {
		case "name":
			name, one = m.Value.(string)
		case "owner":
			owner, _ = m.Value.(string)
		}
	}
	return toolset.Key(owner, name), one
}

// set reads the toolset with a key. whole says that the file is this toolset.
func (f *setFile) set(key string, n source.Node, whole bool) toolset.Set {
	p := &source.Problems{File: f.name, Format: "json"}
	s := f.readSet(p, key, n)
	problem := firstProblem(p)
	if problem == "" && !slices.ContainsFunc(s.Tools, func(ref toolset.Ref) bool { return ref.Broken != "" }) {
		return s
	}
	raw := json.RawMessage(f.text)
	if !whole {
		raw = f.member(key)
	}
	if problem != "" {
		return toolset.Set{Name: s.Name, Owner: s.Owner, Broken: problem, Raw: string(bytes.TrimSpace(raw))}
	}
	var tools []json.RawMessage
	_ = json.Unmarshal(membersOf(raw)["tools"], &tools) // package source has parsed it
	for i := range s.Tools {
		if ref := &s.Tools[i]; ref.Broken != "" {
			ref.Raw = string(tools[i])
		}
	}
	return s
}

// member returns a member of the file as it is written there.
func (f *setFile) member(key string) json.RawMessage {
	if f.members == nil {
		f.members = membersOf(f.text)
	}
	return f.members[key]
}

// membersOf returns the members of an object that package source has parsed.
func membersOf(object []byte) (members map[string]json.RawMessage) {
	_ = json.Unmarshal(object, &members)
	return members
}

// firstProblem returns the first of the problems, or "".
func firstProblem(p *source.Problems) string {
	if e, ok := errors.AsType[*source.Error](p.Err()); ok {
		return e.Problems[0].String()
	}
	return ""
}

// readSet reads the toolset with a key and adds problems with it. The key is its name, or its
// owner, a slash and its name. The result has name and owner even if there are problems.
func (f *setFile) readSet(p *source.Problems, key string, n source.Node) (s toolset.Set) {
	file := table.New(p, source.Node{Value: []source.Member{{Key: key, Node: n}}}, "", key)
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
	s.Name, s.Owner = name, owner
	if toolset.Key(owner, name) != key || !toolset.ValidName(name) {
		s.Name, s.Owner = sanitize.Line(name), sanitize.Line(owner) // for messages
	}
	t, _ := file.Inner(key, sanitize.Line(key), "name", "owner", "description", "version", "createdAt", "tools")
	textOf(t, "name", "write the name that the toolset stands under", func(n string) bool { return n == name })
	written := textOf(t, "owner", "write the owner that stands before the name", func(o string) bool { return o == owner })
	s.Description = textOf(t, "description", fmt.Sprintf("write up to %d bytes", toolset.MaxDescription), func(d string) bool { return len(d) <= toolset.MaxDescription })
	s.Version = textOf(t, "version", fmt.Sprintf("write up to %d bytes", toolset.MaxVersion), func(v string) bool { return len(v) <= toolset.MaxVersion })
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
	case written != owner:
		t.Fail(t.Line, "add it", "the toolset %s needs owner, since one stands before its name", name)
	}
	s.Tools = f.readTools(t)
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

// readTools reads the references of a toolset; broken ones without Raw.
func (f *setFile) readTools(t table.Table) []toolset.Ref {
	refs := []toolset.Ref{}
	elems, isArray := t.At("tools").Value.([]source.Node)
	switch {
	case t.Has("tools") && !isArray:
		t.FailAt("tools", `write "tools": [{"namespacedName": …}, …]`, "tools is %s where an array of tables is expected", t.At("tools").Kind())
	case len(elems) > toolset.MaxTools:
		t.FailAt("tools", "leave some out", "there are more than %d tools", toolset.MaxTools)
		return refs
	}
	for _, n := range elems {
		p := &source.Problems{File: f.name, Format: "json"}
		ref := readRef(p, n)
		if problem := firstProblem(p); problem != "" {
			ref = toolset.Ref{NamespacedName: ref.NamespacedName, Broken: problem}
		}
		refs = append(refs, ref)
	}
	return refs
}

// readRef reads a reference and adds problems with it. Its name is valid or "".
func readRef(p *source.Problems, n source.Node) (ref toolset.Ref) {
	if _, ok := n.Value.([]source.Member); !ok {
		p.Fail(n.Line, `write {"namespacedName": …}`, "tools holds %s where a table is expected", n.Kind())
		return ref
	}
	const hash = "write sha256: and 64 hexadecimal digits"
	t := table.New(p, n, "in a tool", "namespacedName", "refId", "namelessRefId")
	validHash := func(id string) bool { return toolset.ValidRefID(toolset.WithAlgorithm(id)) }
	validName := func(n string) bool { return n != "" && len(n) <= maxToolName }
	if name := textOf(t, "namespacedName", fmt.Sprintf("write 1 to %d bytes", maxToolName), validName); validName(name) {
		ref.NamespacedName = name
	}
	ref.RefID = toolset.WithAlgorithm(textOf(t, "refId", hash, validHash))
	ref.NamelessRefID = toolset.WithAlgorithm(textOf(t, "namelessRefId", hash, validHash))
	if !t.Has("namespacedName") && !t.Has("refId") {
		p.Fail(n.Line, `add one of them`, "a tool needs namespacedName or refId")
	}
	return ref
}
