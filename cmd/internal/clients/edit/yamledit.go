package edit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"toolman/cmd/internal/clients/render"
	"toolman/cmd/internal/config/source"
)

// A yamlText is a YAML file by lines.
type yamlText struct {
	text  []byte
	nl    string
	lines []int // where each line starts; the last is the end of the text
}

func newYAMLText(text []byte) (*yamlText, *source.Problem) {
	for _, other := range []string{"\u0085", "\u2028", "\u2029"} {
		if bytes.Contains(text, []byte(other)) {
			return nil, oddLines()
		}
	}
	if bytes.Count(text, []byte("\r")) != bytes.Count(text, []byte("\r\n")) {
		return nil, oddLines()
	}
	y := &yamlText{text: text, nl: render.LineEnd(text), lines: []int{0}}
	for i, c := range text {
		if c == '\n' && i+1 < len(text) {
			y.lines = append(y.lines, i+1)
		}
	}
	y.lines = append(y.lines, len(text))
	return y, nil
}

// oddLines is the problem of a file with line ends that only YAML knows.
func oddLines() *source.Problem {
	return &source.Problem{Msg: "lines end with something else than a line feed", Hint: "save the file with the line ends of your system"}
}

// line returns the text of a line, from 1, without its end.
func (y *yamlText) line(n int) []byte {
	return bytes.TrimRight(y.text[y.lines[n-1]:y.lines[n]], "\r\n")
}

func (y *yamlText) count() int { return len(y.lines) - 1 }

// indent returns how far a line is indented, and whether it has anything but a comment.
func (y *yamlText) indent(n int) (int, bool) {
	line := y.line(n)
	rest := bytes.TrimLeft(line, " ")
	return len(line) - len(rest), len(rest) > 0 && rest[0] != '#'
}

// blockEnd returns the last line of the block that begins at a line, whose content is indented more
// than outer, or is an item of a list at outer.
func (y *yamlText) blockEnd(start, outer int, items bool) int {
	end := start
	for n := start + 1; n <= y.count(); n++ {
		in, content := y.indent(n)
		line := y.line(n)
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		item := items && in == outer && (bytes.HasPrefix(line[in:], []byte("- ")) || bytes.Equal(line[in:], []byte("-")))
		if in <= outer && !item {
			if !content && in == outer && outer > 0 {
				continue // a comment at the level of the entries
			}
			break
		}
		if content {
			end = n
		}
	}
	return end
}

// column returns where a key is on its line.
func (y *yamlText) column(n *yaml.Node) int { return n.Column - 1 }

// setYAML adds an entry at the end of the mapping or list, or replaces its lines.
func (s Spot) setYAML(text []byte, name string, entry []source.Member, found bool) ([]byte, Mark, *source.Problem) {
	if len(s.Path) != 1 {
		return nil, Mark{}, &source.Problem{Msg: "entries are expected at the top level"}
	}
	y, p := newYAMLText(text)
	if p != nil {
		return nil, Mark{}, p
	}
	root, p := parseYAML(text)
	if p != nil {
		return nil, Mark{}, p
	}
	if several(text) {
		return nil, Mark{}, &source.Problem{Msg: "there are several documents in the file", Hint: "edit it by hand: toolman snippet prints the entry"}
	}
	if root == nil {
		return s.appendYAML(y, name, entry)
	}
	if root.Kind != yaml.MappingNode || root.Style&yaml.FlowStyle != 0 {
		return nil, Mark{}, &source.Problem{Line: root.Line, Msg: "the file is not a mapping with a key on each line", Hint: "edit it by hand: toolman snippet prints the entry"}
	}
	key, value, p := yamlMember(root, nil, s.Path[0])
	if p != nil {
		return nil, Mark{}, p
	}
	switch {
	case value == nil:
		return s.appendYAML(y, name, entry)
	case value.Style&yaml.FlowStyle != 0:
		return s.setFlow(y, value, name, entry, found)
	case value.Kind == yaml.AliasNode:
		return nil, Mark{}, &source.Problem{Line: value.Line, Msg: source.Shown(s.Path[0]) + " is an alias of another value", Hint: "edit it by hand: toolman snippet prints the entry"}
	case value.Kind == yaml.ScalarNode && value.Value != "": // ~ or null
		return nil, Mark{}, &source.Problem{Line: value.Line, Msg: source.Shown(s.Path[0]) + " is null", Hint: "take the value out"}
	}
	outer := y.column(key)
	if found {
		start, end, in := s.yamlEntry(y, value, name)
		cut := span{start: y.lines[start-1], end: y.lines[end]}
		cut.with = s.yamlBlock(name, entry, in, y.nl)
		if !bytes.HasSuffix(text[:cut.end], []byte("\n")) {
			cut.with = strings.TrimSuffix(cut.with, y.nl)
		}
		return apply(text, cut), Mark{}, nil
	}
	in := outer + 2
	if len(value.Content) > 0 {
		in = y.column(value.Content[0])
		if s.List {
			in, _ = y.indent(value.Content[0].Line)
		}
	}
	last := y.blockEnd(key.Line, outer, s.List)
	return y.insert(last, s.yamlBlock(name, entry, in, y.nl), 0)
}

// several reports whether a file has more than one document.
func several(text []byte) bool {
	d := yaml.NewDecoder(bytes.NewReader(text))
	for range 2 {
		if d.Decode(new(yaml.Node)) != nil {
			return false
		}
	}
	return true
}

// insert inserts a block of lines after a line.
func (y *yamlText) insert(line int, block string, levels int) ([]byte, Mark, *source.Problem) {
	at := y.lines[line]
	mark := Mark{Added: true, Levels: levels}
	if at > 0 && y.text[at-1] != '\n' {
		mark.Before = y.nl
		block = strings.TrimSuffix(block, y.nl)
	}
	return apply(y.text, span{at, at, mark.Before + block}), mark, nil
}

// yamlBlock returns the lines of an entry.
func (s Spot) yamlBlock(name string, entry []source.Member, in int, nl string) string {
	lines := render.YAMLLines(entry)
	if s.List {
		for i := range lines {
			if i == 0 {
				lines[i] = "- " + lines[i]
			} else {
				lines[i] = "  " + lines[i]
			}
		}
	} else {
		for i := range lines {
			lines[i] = "  " + lines[i]
		}
		lines = slices.Concat([]string{render.YAMLString(name) + ":"}, lines)
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(strings.Repeat(" ", in) + line + nl)
	}
	return b.String()
}

// appendYAML adds the key of the entries, and one entry, at the end of the file.
func (s Spot) appendYAML(y *yamlText, name string, entry []source.Member) ([]byte, Mark, *source.Problem) {
	block := render.YAMLString(s.Path[0]) + ":" + y.nl + s.yamlBlock(name, entry, 2, y.nl)
	if len(y.text) == 0 {
		return []byte(block), Mark{Added: true, Levels: 1}, nil
	}
	return y.insert(y.count(), block, 1)
}

// yamlEntry returns the first and the last line of an entry, and how far it is indented.
func (s Spot) yamlEntry(y *yamlText, value *yaml.Node, name string) (start, end, in int) {
	if s.List {
		for _, e := range value.Content {
			if yamlName(e) == name {
				in, _ = y.indent(e.Line)
				return e.Line, y.blockEnd(e.Line, in, false), in
			}
		}
		return 0, 0, 0
	}
	k, _, _ := yamlMember(value, nil, name)
	in = y.column(k)
	return k.Line, y.blockEnd(k.Line, in, true), in
}

// removeYAML takes out the lines of an entry.
func (s Spot) removeYAML(text []byte, name string, mark Mark) ([]byte, *source.Problem) {
	y, p := newYAMLText(text)
	if p != nil {
		return nil, p
	}
	root, p := parseYAML(text)
	if p != nil {
		return nil, p
	}
	key, value, p := yamlMember(root, nil, s.Path[0])
	if p != nil {
		return nil, p
	}
	if value.Style&yaml.FlowStyle != 0 || value.Kind == yaml.AliasNode {
		return s.removeFlow(y, value, name)
	}
	start, end, _ := s.yamlEntry(y, value, name)
	if start == 0 {
		return nil, &source.Problem{Line: value.Line, Msg: "the entry was not found"}
	}
	entries := len(value.Content)
	if !s.List {
		entries /= 2
	}
	if mark.Levels > 0 && entries == 1 && start == key.Line+1 {
		start = key.Line
	} else {
		mark.Levels = 0
	}
	cut := span{start: y.lines[start-1], end: y.lines[end]}
	if mark.Before != "" && cut.end == len(text) {
		if exact, ok := mark.around(text, cut.start, cut.end); ok {
			cut = exact
		}
	}
	return apply(text, cut), nil
}

// setFlow adds an entry to a mapping or list in braces, as JSON, which YAML includes.
func (s Spot) setFlow(y *yamlText, value *yaml.Node, name string, entry []source.Member, found bool) ([]byte, Mark, *source.Problem) {
	at := y.offset(value)
	if found || at >= len(y.text) || y.text[at] != '{' && y.text[at] != '[' {
		return nil, Mark{}, s.flowProblem(value)
	}
	one := s.flowEntry(name, entry)
	mark := Mark{Added: true}
	if len(value.Content) > 0 {
		mark.After = ", "
	}
	return apply(y.text, span{at + 1, at + 1, one + mark.After}), mark, nil
}

func (s Spot) flowEntry(name string, entry []source.Member) string {
	n := source.Node{Value: entry}
	if s.List {
		return render.Layout{Compact: true}.JSON(n, "")
	}
	return render.Quoted(name) + ": " + render.Layout{Compact: true}.JSON(n, "")
}

// removeFlow takes out an entry that setFlow added.
func (s Spot) removeFlow(y *yamlText, value *yaml.Node, name string) ([]byte, *source.Problem) {
	entry, _, p := s.find(y.text, name)
	if p != nil {
		return nil, p
	}
	one := s.flowEntry(name, entry)
	at := y.offset(value)
	if value.Kind == yaml.AliasNode || at >= len(y.text) {
		return nil, s.flowProblem(value)
	}
	i := bytes.Index(y.text[at:], []byte(one))
	if i < 0 {
		return nil, s.flowProblem(value)
	}
	start, end := at+i, at+i+len(one)
	if bytes.HasPrefix(y.text[end:], []byte(", ")) && len(value.Content) > 1 {
		end += 2
	}
	return apply(y.text, span{start: start, end: end}), nil
}

func (s Spot) flowProblem(value *yaml.Node) *source.Problem {
	return &source.Problem{Line: value.Line, Msg: fmt.Sprintf("%s is written in braces", source.Shown(s.Path[0])), Hint: "write it with an entry on each line, or edit it by hand: toolman snippet prints the entry"}
}

// offset returns where a value is.
func (y *yamlText) offset(n *yaml.Node) int {
	line := []rune(string(y.line(n.Line)))
	return y.lines[n.Line-1] + len(string(line[:min(n.Column-1, len(line))]))
}

// yamlName returns what an entry of a list has under name.
func yamlName(n *yaml.Node) string {
	if n = yamlAlias(n); n.Kind == yaml.MappingNode {
		if _, v, _ := yamlMember(n, nil, "name"); v != nil {
			return v.Value
		}
	}
	return ""
}
