package edit

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"toolman/cmd/internal/config/source"
)

// A Spot is where the entries of a file are.
type Spot struct {
	Format Format   `json:"format"`
	Path   []string `json:"path"`             // of keys
	List   bool     `json:"list,omitempty"`   // the entries are a list, with their names under name
	Create string   `json:"create,omitempty"` // what a new file begins with
}

// A Mark says what an addition inserted besides its entry, so that a removal leaves nothing of it.
type Mark struct {
	Added  bool   `json:"added,omitempty"`  // whether there was an addition
	Levels int    `json:"levels,omitempty"` // containers that the addition created, from the innermost
	Before string `json:"before,omitempty"` // what it inserted before the outermost of them, or the entry
	After  string `json:"after,omitempty"`
}

// Set returns the text with the entry under a name. If there is one already, Set changes its keys
// to those of entry and keeps others. The mark is for Remove, and is empty unless Set added an
// entry. A text that has the entry already is returned as it is.
func (s Spot) Set(text []byte, name string, entry []source.Member) ([]byte, Mark, *source.Problem) {
	return s.set(text, name, entry, merge)
}

// Put is Set, but an entry that is there loses its other keys.
func (s Spot) Put(text []byte, name string, entry []source.Member) ([]byte, *source.Problem) {
	out, _, p := s.set(text, name, entry, func(_, entry []source.Member) []source.Member { return entry })
	return out, p
}

func (s Spot) set(text []byte, name string, entry []source.Member, merge func(old, entry []source.Member) []source.Member) ([]byte, Mark, *source.Problem) {
	if s.List && nameOf(entry) == "" {
		entry = slices.Concat([]source.Member{{Key: "name", Node: source.Node{Value: name}}}, entry)
	}
	if s.Create != "" && len(bytes.TrimSpace(text)) == 0 {
		text = slices.Concat(text, []byte(s.Create))
	}
	old, found, p := s.find(text, name)
	if p != nil {
		return nil, Mark{}, p
	}
	if found {
		merged := merge(old, entry)
		if sameMembers(old, merged) {
			return text, Mark{}, nil
		}
		entry = merged
	}
	var out []byte
	var mark Mark
	head, body := splitBOM(text)
	switch s.Format {
	case TOML:
		out, mark, p = s.setTOML(body, name, entry, found)
	case YAML:
		out, mark, p = s.setYAML(body, name, entry, found)
	default:
		out, mark, p = s.setJSON(body, name, entry, found)
	}
	if p != nil {
		return nil, Mark{}, p
	}
	out = append(head, out...)
	if p := s.verify(text, out, name, entry); p != nil {
		return nil, Mark{}, p
	}
	return out, mark, nil
}

// Remove returns the text without the entry of a name, and whether there was one. The mark is that
// of Set, or empty.
func (s Spot) Remove(text []byte, name string, mark Mark) ([]byte, bool, *source.Problem) {
	_, found, p := s.find(text, name)
	if p != nil || !found {
		return text, false, p
	}
	var out []byte
	head, body := splitBOM(text)
	switch s.Format {
	case TOML:
		out, p = s.removeTOML(body, name, mark)
	case YAML:
		out, p = s.removeYAML(body, name, mark)
	default:
		out, p = s.removeJSON(body, name, mark)
	}
	if p != nil {
		return nil, true, p
	}
	out = append(head, out...)
	if p := s.verify(text, out, name, nil); p != nil {
		return nil, true, p
	}
	return out, true, nil
}

// Get returns the keys of the entry with a name, and whether there is one.
func (s Spot) Get(text []byte, name string) ([]source.Member, bool, *source.Problem) {
	return s.find(text, name)
}

// Empty reports whether a text has no values, except those that a new file begins with.
func (s Spot) Empty(text []byte) (bool, *source.Problem) {
	rest, p := s.rest(text, "")
	if p != nil || rest == "" {
		return rest == "", p
	}
	begin, p := s.rest([]byte(s.Create), "")
	return rest == begin, p
}

// find returns the keys of an entry.
func (s Spot) find(text []byte, name string) ([]source.Member, bool, *source.Problem) {
	n, found, p := At(s.Format, text, s.Path...)
	if p != nil || !found || n.Value == nil && s.Format == YAML {
		return nil, false, p
	}
	what := s.Path[len(s.Path)-1]
	if s.List {
		elems, ok := n.Value.([]source.Node)
		if !ok {
			return nil, false, &source.Problem{Line: n.Line, Msg: source.Shown(what) + " is " + n.Kind() + " where a list is expected"}
		}
		for _, e := range elems {
			if members, ok := e.Value.([]source.Member); ok && nameOf(members) == name {
				return members, true, nil
			}
		}
		return nil, false, nil
	}
	members, ok := n.Value.([]source.Member)
	if !ok {
		return nil, false, &source.Problem{Line: n.Line, Msg: source.Shown(what) + " is " + n.Kind() + " where an object is expected"}
	}
	var at *source.Member
	for i, m := range members {
		if m.Key != name {
			continue
		}
		if at != nil {
			return nil, false, twice(m.Line, name)
		}
		at = &members[i]
	}
	if at == nil {
		return nil, false, nil
	}
	keys, ok := at.Value.([]source.Member)
	if !ok {
		return nil, false, &source.Problem{Line: at.Line, Msg: source.Shown(name) + " is " + at.Kind() + " where an object is expected"}
	}
	return keys, true, nil
}

// nameOf returns what an entry of a list has under name.
func nameOf(members []source.Member) string {
	for _, m := range members {
		if s, ok := m.Value.(string); ok && m.Key == "name" {
			return s
		}
	}
	return ""
}

// merge returns the keys of old with the values of entry, and the keys that only entry has.
func merge(old, entry []source.Member) []source.Member {
	merged := slices.Clone(old)
	for _, m := range entry {
		i := slices.IndexFunc(merged, func(o source.Member) bool { return o.Key == m.Key })
		if i < 0 {
			merged = append(merged, m)
		} else if !same(merged[i].Node, m.Node) {
			merged[i] = m
		}
	}
	return merged
}

// same reports whether two values are the same, wherever they are.
func same(a, b source.Node) bool {
	switch x := a.Value.(type) {
	case []source.Member:
		y, ok := b.Value.([]source.Member)
		return ok && sameMembers(x, y)
	case []source.Node:
		y, ok := b.Value.([]source.Node)
		return ok && slices.EqualFunc(x, y, same)
	}
	switch b.Value.(type) {
	case []source.Member, []source.Node:
		return false
	}
	return a.Value == b.Value
}

// sameMembers reports whether two objects have the same keys and values, in any order.
func sameMembers(a, b []source.Member) bool {
	byKey := func(x, y source.Member) int { return strings.Compare(x.Key, y.Key) }
	return slices.EqualFunc(slices.SortedStableFunc(slices.Values(a), byKey), slices.SortedStableFunc(slices.Values(b), byKey),
		func(x, y source.Member) bool { return x.Key == y.Key && same(x.Node, y.Node) })
}

// splitBOM returns a byte order mark, or nothing, and the rest.
func splitBOM(text []byte) (head, body []byte) {
	n := len(text) - len(bytes.TrimPrefix(text, bom))
	return text[:n:n], text[n:]
}

// A span is a part of a text that is replaced.
type span struct {
	start, end int
	with       string
}

// apply replaces spans, which do not overlap.
func apply(text []byte, spans ...span) []byte {
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	var out []byte
	pos := 0
	for _, s := range spans {
		out = append(out, text[pos:s.start]...)
		out = append(out, s.with...)
		pos = s.end
	}
	return append(out, text[pos:]...)
}

// around returns the span of what a mark describes around start and end, if it is there.
func (m Mark) around(text []byte, start, end int) (span, bool) {
	if !bytes.HasSuffix(text[:start], []byte(m.Before)) || !bytes.HasPrefix(text[end:], []byte(m.After)) {
		return span{}, false
	}
	return span{start: start - len(m.Before), end: end + len(m.After)}, true
}

// verify checks that the new text differs from the old one in the entry only: it has the keys of
// entry or, if that is nil, is gone.
func (s Spot) verify(before, after []byte, name string, entry []source.Member) *source.Problem {
	unsafe := func(why string) *source.Problem {
		return &source.Problem{Msg: "it cannot be edited without a change of something else (" + why + ")", Hint: "edit it by hand: toolman snippet prints the entry"}
	}
	now, found, p := s.find(after, name)
	switch {
	case p != nil:
		return unsafe(p.Msg)
	case found != (entry != nil):
		return unsafe("the entry")
	case found && !sameMembers(now, entry):
		return unsafe("the values of the entry")
	}
	was, p := s.rest(before, name)
	if p != nil {
		return p
	}
	if is, p := s.rest(after, name); p != nil || is != was {
		return unsafe("other values")
	}
	return nil
}
