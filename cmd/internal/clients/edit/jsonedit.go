package edit

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"toolman/cmd/internal/clients/render"
	"toolman/cmd/internal/config/source"
)

// setJSON adds an entry, or replaces its value.
func (s Spot) setJSON(text []byte, name string, entry []source.Member, found bool) ([]byte, Mark, *source.Problem) {
	root, empty, p := parseJSON(text)
	if p != nil {
		return nil, Mark{}, p
	}
	l := layoutOf(text, root, empty)
	if empty {
		out, mark := l.create(text, nest(s.Path, name, entry))
		mark.Levels = len(s.Path) + 1
		return out, mark, nil
	}
	if found {
		m := jsonEntry(text, root, s.Path, name)
		indent := indentAt(text, m.Name.StartOffset)
		l.Compact = l.Compact || !bytes.Contains(text[m.Value.StartOffset:m.Value.EndOffset], []byte("\n"))
		return apply(text, span{m.Value.StartOffset, m.Value.EndOffset, l.JSON(source.Node{Value: entry}, indent)}), Mark{}, nil
	}
	// The innermost container on the path that exists gets the entry with the others around it.
	v, depth := root, 0
	for depth < len(s.Path) {
		m, p := jsonMember(text, v, s.Path[:depth], s.Path[depth])
		if p != nil {
			return nil, Mark{}, p
		}
		if m == nil {
			break
		}
		v, depth = m.Value, depth+1
	}
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, Mark{}, notTable(lineAt(text, v.StartOffset), s.Path[:depth], jsonKind(v))
	}
	spans, mark := l.insert(text, v, object, nest(s.Path[depth:], name, entry)[0])
	mark.Levels = len(s.Path) - depth
	return apply(text, spans...), mark, nil
}

// nest returns an entry within the objects of a path.
func nest(path []string, name string, entry []source.Member) []source.Member {
	members := []source.Member{{Key: name, Node: source.Node{Value: entry}}}
	for _, key := range slices.Backward(path) {
		members = []source.Member{{Key: key, Node: source.Node{Value: members}}}
	}
	return members
}

// jsonEntry returns the member of an entry, or nil.
func jsonEntry(text []byte, root hujson.Value, path []string, name string) *hujson.ObjectMember {
	v := root
	for i, key := range slices.Concat(path, []string{name}) {
		m, p := jsonMember(text, v, path[:min(i, len(path))], key)
		if p != nil || m == nil {
			return nil
		}
		if i == len(path) {
			return m
		}
		v = m.Value
	}
	return nil
}

// A jsonLayout inserts values as a file is laid out.
type jsonLayout struct{ render.Layout }

// layoutOf returns how a file is laid out.
func layoutOf(text []byte, root hujson.Value, empty bool) jsonLayout {
	l := jsonLayout{Layout: render.Layout{Unit: "  ", NL: render.LineEnd(text)}}
	if empty {
		return l
	}
	if object, ok := root.Value.(*hujson.Object); ok && len(object.Members) > 0 {
		l.Compact = !bytes.Contains(text[root.StartOffset:root.EndOffset], []byte("\n"))
		at := object.Members[0].Name.StartOffset
		if indent := indentAt(text, at); indent != "" && startsLine(text, at) {
			l.Unit = indent
		}
	}
	return l
}

// indentAt returns the blanks at the start of the line of an offset.
func indentAt(text []byte, offset int) string {
	line := text[bytes.LastIndexByte(text[:offset], '\n')+1 : offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// startsLine reports whether there are only blanks before an offset on its line.
func startsLine(text []byte, offset int) bool {
	line := text[bytes.LastIndexByte(text[:offset], '\n')+1 : offset]
	return len(bytes.TrimLeft(line, " \t")) == 0
}

// create makes an object in a file that has none.
func (l jsonLayout) create(text []byte, members []source.Member) ([]byte, Mark) {
	before := ""
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		before = l.NL
	}
	value := l.JSON(source.Node{Value: members}, "")
	return slices.Concat(text, []byte(before+value+l.NL)), Mark{Added: true, Before: before, After: l.NL}
}

// insert puts a member at the end of an object.
func (l jsonLayout) insert(text []byte, v hujson.Value, object *hujson.Object, m source.Member) ([]span, Mark) {
	member := func(indent string) string { return render.Quoted(m.Key) + ": " + l.JSON(m.Node, indent) }
	end := v.EndOffset - 1 // of what is within the braces
	if n := len(object.Members); n > 0 {
		last := object.Members[n-1]
		l.Compact = l.Compact || !bytes.Contains(text[v.StartOffset:v.EndOffset], []byte("\n"))
		comma := commaAfter(text, last.Value.EndOffset, end)
		at := last.Value.EndOffset
		if comma > 0 {
			at = comma
		}
		at = tailOf(text, at, end)
		indent := indentAt(text, last.Name.StartOffset)
		if !startsLine(text, last.Name.StartOffset) {
			indent = indentAt(text, v.StartOffset) + l.Unit
		}
		mark := Mark{Added: true, Before: l.NL + indent}
		if l.Compact {
			mark.Before = " "
		}
		var spans []span
		if comma > 0 {
			mark.After = ","
		} else {
			spans = append(spans, span{last.Value.EndOffset, last.Value.EndOffset, ","})
		}
		return append(spans, span{at, at, mark.Before + member(indent) + mark.After}), mark
	}
	at := tailOf(text, v.StartOffset+1, end)
	if l.Compact {
		return []span{{at, at, member("")}}, Mark{Added: true}
	}
	outer := indentAt(text, v.StartOffset)
	mark := Mark{Added: true, Before: l.NL + outer + l.Unit}
	if !bytes.Contains(text[at:end], []byte("\n")) {
		mark.After = l.NL + outer
	}
	return []span{{at, at, mark.Before + member(outer+l.Unit) + mark.After}}, mark
}

// commaAfter returns the offset after the comma that follows a value, or 0.
func commaAfter(text []byte, offset, end int) int {
	for i := offset; i < end; i++ {
		switch c := text[i]; c {
		case ' ', '\t', '\r', '\n':
		case ',':
			return i + 1
		default:
			n := comment(text[i:end])
			if n == 0 {
				return 0
			}
			i += n - 1
		}
	}
	return 0
}

// tailOf returns the offset after the comments that follow on the same line.
func tailOf(text []byte, offset, end int) int {
	at := offset
	for i := offset; i < end; i++ {
		if text[i] == ' ' || text[i] == '\t' {
			continue
		}
		n := comment(text[i:end])
		if n == 0 || bytes.Contains(text[i:i+n], []byte("\n")) {
			break
		}
		i += n - 1
		at = i + 1
	}
	return at
}

// removeJSON takes an entry out, with the containers that an addition created, if they hold nothing
// else.
func (s Spot) removeJSON(text []byte, name string, mark Mark) ([]byte, *source.Problem) {
	root, _, p := parseJSON(text)
	if p != nil {
		return nil, p
	}
	// The objects on the path, and the member in each that leads on or is the entry.
	objects := []hujson.Value{root}
	var indexes []int
	for i, key := range slices.Concat(s.Path, []string{name}) {
		object := objects[i].Value.(*hujson.Object)
		at := slices.IndexFunc(object.Members, func(m hujson.ObjectMember) bool { return m.Name.Value.(hujson.Literal).String() == key })
		indexes = append(indexes, at)
		if i < len(s.Path) {
			objects = append(objects, object.Members[at].Value)
		}
	}
	depth, left := len(s.Path), mark.Levels
	for left > 0 && alone(text, objects[depth]) {
		depth--
		left--
		if depth < 0 {
			break
		}
	}
	if depth < 0 {
		if cut, ok := mark.around(text, root.StartOffset, root.EndOffset); ok {
			return apply(text, cut), nil
		}
		return apply(text, span{start: root.StartOffset, end: root.EndOffset}), nil
	}
	object := objects[depth].Value.(*hujson.Object)
	spans := cutMember(text, objects[depth], object, indexes[depth])
	if m := object.Members[indexes[depth]]; left == 0 {
		// Exactly what the addition inserted, with the comma that it put before it. Blanks after it
		// were for an object that held nothing else.
		if len(object.Members) > 1 && !strings.HasSuffix(mark.After, ",") {
			mark.After = ""
		}
		if cut, ok := mark.around(text, m.Name.StartOffset, m.Value.EndOffset); ok && mark.Added {
			var commas []span
			if last := len(object.Members) - 1; last == indexes[depth] && last > 0 && !strings.HasSuffix(mark.After, ",") &&
				commaAfter(text, m.Value.EndOffset, objects[depth].EndOffset-1) == 0 {
				comma := commaAfter(text, object.Members[last-1].Value.EndOffset, m.Name.StartOffset)
				commas = append(commas, span{start: comma - 1, end: comma})
			}
			if exact := append(commas, cut); isJSON(apply(text, slices.Clone(exact)...)) {
				spans = exact
			}
		}
	}
	return apply(text, spans...), nil
}

func isJSON(text []byte) bool {
	_, _, p := parseJSON(text)
	return p == nil
}

// alone reports whether an object has one member and no comments.
func alone(text []byte, v hujson.Value) bool {
	object := v.Value.(*hujson.Object)
	if len(object.Members) != 1 {
		return false
	}
	m := object.Members[0]
	blank := func(from, to int) bool { return len(bytes.Trim(text[from:to], " \t\r\n,")) == 0 }
	return blank(v.StartOffset+1, m.Name.StartOffset) && blank(m.Value.EndOffset, v.EndOffset-1)
}

// cutMember returns what to cut for one member: the member with its comma and the comments after it
// on its line. Comments before it stay.
func cutMember(text []byte, v hujson.Value, object *hujson.Object, i int) []span {
	end := v.EndOffset - 1
	m := object.Members[i]
	from := tailOf(text, v.StartOffset+1, m.Name.StartOffset)
	before := 0 // the offset after the comma before the member
	if i > 0 {
		before = commaAfter(text, object.Members[i-1].Value.EndOffset, m.Name.StartOffset)
		from = tailOf(text, before, m.Name.StartOffset)
	}
	for at := from; at < m.Name.StartOffset; at++ {
		if n := comment(text[at:m.Name.StartOffset]); n > 0 {
			at += n - 1
			from = at + 1
		}
	}
	to := m.Value.EndOffset
	comma := commaAfter(text, to, end)
	if comma > 0 {
		to = comma
	}
	if tail := tailOf(text, to, end); tail == end || text[tail] == '\n' || text[tail] == '\r' {
		to = tail
	}
	last := i == len(object.Members)-1
	if i == 0 && last && len(bytes.Trim(slices.Concat(text[v.StartOffset+1:from], text[to:end]), " \t\r\n")) == 0 {
		return []span{{start: v.StartOffset + 1, end: end}}
	}
	spans := []span{{start: from, end: to}}
	if last && comma == 0 && before > 0 {
		spans = append(spans, span{start: before - 1, end: before})
	}
	return spans
}
