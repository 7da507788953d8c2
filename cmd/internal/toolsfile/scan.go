package toolsfile

import (
	"slices"
	"strings"

	"toolman/cmd/internal/config/source"
)

// A statement is a part of a TOML file: a header, a key with its value, a comment or a blank line.
// It is whole lines.
type statement struct {
	kind       byte // '[' header, '=' key, '#' comment, ':' comment for programs, ' ' blank
	start, end int  // offsets in the text, with the line end
	line       int  // from 1
	path       []string
	array      bool // [[…]]
}

// scan splits the text of a valid TOML file into its statements.
func scan(text string) (all []statement) {
	line, done := 1, 0
	add := func(s statement) {
		s.start, s.line = done, line
		all = append(all, s)
		line += strings.Count(text[done:s.end], "\n")
		done = s.end
	}
	between := func(end int) { // comments and blank lines
		for done < end {
			s := statement{kind: ' ', end: lineEnd(text, done)}
			switch one := strings.TrimLeft(text[done:s.end], " \t"); {
			case strings.HasPrefix(one, "#:"): // #:schema
				s.kind = ':'
			case strings.HasPrefix(one, "#"):
				s.kind = '#'
			}
			add(s)
		}
	}
	for _, found := range source.Statements(text) {
		between(strings.LastIndexByte(text[:found.Start], '\n') + 1)
		s := statement{kind: '=', end: lineEnd(text, found.End)}
		if found.Header {
			s.kind, s.path, s.array = '[', found.Keys, strings.HasPrefix(text[found.Start:], "[[")
		}
		add(s)
	}
	between(len(text))
	return all
}

// lineEnd returns the offset behind the line end at or behind pos.
func lineEnd(text string, pos int) int {
	if n := strings.IndexByte(text[pos:], '\n'); n >= 0 {
		return pos + n + 1
	}
	return len(text)
}

// A span is a part of the text.
type span struct{ start, end int }

// blockAt returns the parts of the text that are about the server whose table begins on a line. It
// returns none for a server that has no table of its own, as in servers = [{…}].
func blockAt(text string, line int) (spans []span) {
	all := scan(text)
	at := slices.IndexFunc(all, func(s statement) bool { return s.kind == '[' && s.line == line })
	if at < 0 {
		return nil
	}
	head := all[at]
	mine := true
	for i := at; i < len(all); {
		end := sectionEnd(all, i)
		if s := all[i]; s.kind == '[' {
			below := len(s.path) > len(head.path) && slices.Equal(s.path[:len(head.path)], head.path)
			if i > at && slices.Equal(s.path, head.path) {
				mine = false // the next element of the array
			}
			if i == at || below && mine {
				spans = append(spans, sectionSpan(all, i, end))
			}
		}
		i = end
	}
	return spans
}

// sectionEnd returns the index of the next header behind that at i.
func sectionEnd(all []statement, i int) int {
	for i++; i < len(all) && all[i].kind != '['; i++ {
	}
	return i
}

// sectionSpan returns the part of the text from the comment lines directly above the header at i to
// the blank lines behind its last key. Comments behind a blank line are left out.
func sectionSpan(all []statement, i, end int) span {
	first := i
	for first > 0 && all[first-1].kind == '#' {
		first--
	}
	last := i
	for n := i + 1; n < end; n++ {
		if all[n].kind == '=' {
			last = n
		}
	}
	for last+1 < end && all[last+1].kind == '#' && !leadsOn(all, last+1, end) {
		last++
	}
	for last+1 < end && all[last+1].kind == ' ' {
		last++
	}
	return span{all[first].start, all[last].end}
}

// leadsOn reports whether the comment at i leads on to the header at end without a blank line, and
// so belongs to that.
func leadsOn(all []statement, i, end int) bool {
	if end == len(all) {
		return false
	}
	for ; i < end; i++ {
		if all[i].kind != '#' {
			return false
		}
	}
	return true
}
