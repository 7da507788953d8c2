package edit

import (
	"bytes"
	"slices"
	"strings"

	"toolman/cmd/internal/clients/render"
	"toolman/cmd/internal/config/source"
)

// tomlTable returns an entry as a table with its header.
func (s Spot) tomlTable(name string, entry []source.Member, nl string) string {
	var header []string
	for _, key := range slices.Concat(s.Path, []string{name}) {
		header = append(header, render.TOMLKey(key))
	}
	lines := []string{"[" + strings.Join(header, ".") + "]"}
	for _, m := range entry {
		lines = append(lines, render.TOMLKey(m.Key)+" = "+render.TOML(m.Node))
	}
	return strings.Join(lines, nl) + nl
}

// setTOML adds an entry as a table at the end of the file, or puts the table in place of the entry.
func (s Spot) setTOML(text []byte, name string, entry []source.Member, found bool) ([]byte, Mark, *source.Problem) {
	nl := render.LineEnd(text)
	table := s.tomlTable(name, entry, nl)
	if found {
		cuts := s.tomlSpans(text, name)
		if len(cuts) == 0 {
			return nil, Mark{}, s.inlineTable(text)
		}
		at := len(text)
		if isHeader(text, cuts[0]) {
			at = cuts[0].start
		}
		if cuts[0].start == at {
			if !bytes.HasSuffix(text[:cuts[0].end], []byte("\n")) {
				table = strings.TrimSuffix(table, nl)
			}
			cuts[0].with = table
			return apply(text, cuts...), Mark{}, nil
		}
		out := apply(text, cuts...)
		before := gap(out, nl)
		return slices.Concat(out, []byte(before+table)), Mark{}, nil
	}
	for _, st := range source.Statements(string(text)) {
		if slices.Equal(st.Keys, s.Path) && !st.Header {
			return nil, Mark{}, s.inlineTable(text)
		}
	}
	before := gap(text, nl)
	return slices.Concat(text, []byte(before+table)), Mark{Added: true, Before: before}, nil
}

// gap returns what puts an empty line between a text and what follows it.
func gap(text []byte, nl string) string {
	switch {
	case len(bytes.TrimSpace(text)) == 0 && (len(text) == 0 || bytes.HasSuffix(text, []byte("\n"))):
		return ""
	case bytes.HasSuffix(text, []byte("\n")):
		return nl
	}
	return nl + nl
}

func isHeader(text []byte, s span) bool { return text[s.start+len(indentAfter(text, s.start))] == '[' }

// indentAfter returns the blanks at an offset.
func indentAfter(text []byte, offset int) []byte {
	rest := text[offset:]
	return rest[:len(rest)-len(bytes.TrimLeft(rest, " \t"))]
}

// inlineTable says that the entries are in a table on one line, which is not edited.
func (s Spot) inlineTable(text []byte) *source.Problem {
	p := &source.Problem{Msg: strings.Join(s.Path, ".") + " is an inline table", Hint: "write its entries as tables of their own: [" + strings.Join(s.Path, ".") + ".NAME]"}
	for _, st := range source.Statements(string(text)) {
		if len(st.Keys) <= len(s.Path) && slices.Equal(st.Keys, s.Path[:len(st.Keys)]) && !st.Header {
			p.Line = lineAt(text, st.Start)
		}
	}
	return p
}

// tomlSpans returns the lines of an entry: its tables, or its keys in the table around it. Comments
// between the lines of one table belong to it.
func (s Spot) tomlSpans(text []byte, name string) []span {
	path := slices.Concat(s.Path, []string{name})
	var spans []span
	open := false // whether the statement before is of the entry as well
	for _, st := range source.Statements(string(text)) {
		ours := len(st.Keys) >= len(path) && slices.Equal(st.Keys[:len(path)], path)
		if !ours {
			open = false
			continue
		}
		start := bytes.LastIndexByte(text[:st.Start], '\n') + 1
		end := len(text)
		if i := bytes.IndexByte(text[st.End:], '\n'); i >= 0 {
			end = st.End + i + 1
		}
		if open {
			spans[len(spans)-1].end = end
		} else {
			spans = append(spans, span{start: start, end: end})
		}
		open = true
	}
	return spans
}

// removeTOML takes out the lines of an entry.
func (s Spot) removeTOML(text []byte, name string, mark Mark) ([]byte, *source.Problem) {
	cuts := s.tomlSpans(text, name)
	if len(cuts) == 0 {
		return nil, s.inlineTable(text)
	}
	if exact, ok := mark.around(text, cuts[0].start, cuts[0].end); ok && len(cuts) == 1 && mark.Added {
		// Without the line end that the addition gave the last line, others need their own.
		if exact.end == len(text) || strings.Count(mark.Before, "\n") < 2 {
			return apply(text, exact), nil
		}
	}
	nl := []byte(render.LineEnd(text))
	for i, c := range cuts {
		// Of the empty lines around the entry, one stays.
		empty := bytes.HasSuffix(text[:c.start], slices.Concat(nl, nl)) || bytes.Equal(text[:c.start], nl)
		if empty && (c.end == len(text) || bytes.HasPrefix(text[c.end:], nl)) {
			cuts[i].start -= len(nl)
		}
	}
	return apply(text, cuts...), nil
}
