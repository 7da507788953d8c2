package toolsfile

import (
	"slices"
	"strconv"
	"strings"
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
	line := 1
	for pos := 0; pos < len(text); {
		s := statement{start: pos, line: line}
		head := strings.TrimLeft(text[pos:], " \t")
		first := len(text) - len(head)
		switch {
		case head == "" || head[0] == '\n' || strings.HasPrefix(head, "\r\n"):
			s.kind, s.end = ' ', lineEnd(text, first)
		case strings.HasPrefix(head, "#:"): // #:schema
			s.kind, s.end = ':', lineEnd(text, first)
		case head[0] == '#':
			s.kind, s.end = '#', lineEnd(text, first)
		case head[0] == '[':
			s.kind, s.end, s.array = '[', lineEnd(text, first), strings.HasPrefix(head, "[[")
			s.path = path(strings.TrimLeft(head, "["))
		default:
			s.kind, s.end = '=', valueEnd(text, first)
		}
		line += strings.Count(text[pos:s.end], "\n")
		pos = s.end
		all = append(all, s)
	}
	return all
}

// lineEnd returns the offset behind the line end at or behind pos.
func lineEnd(text string, pos int) int {
	if n := strings.IndexByte(text[pos:], '\n'); n >= 0 {
		return pos + n + 1
	}
	return len(text)
}

// valueEnd returns the offset behind the line that ends a key with its value.
func valueEnd(text string, pos int) int {
	depth := 0
	for pos < len(text) {
		switch c := text[pos]; c {
		case '"', '\'':
			pos = stringEnd(text, pos)
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '#':
			pos = lineEnd(text, pos) - 1 // at the line end
			if pos < len(text) && text[pos] != '\n' {
				return len(text)
			}
			continue
		case '\n':
			if depth <= 0 {
				return pos + 1
			}
		}
		pos++
	}
	return len(text)
}

// stringEnd returns the offset behind the string that begins at pos.
func stringEnd(text string, pos int) int {
	quote := text[pos : pos+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(text[pos:], triple) {
		quote = triple
	}
	for i := pos + len(quote); i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote[0] == '"':
			i++
		case strings.HasPrefix(text[i:], quote):
			end := i + len(quote)
			for len(quote) == 3 && strings.HasPrefix(text[end:], quote[:1]) {
				end++ // quotes may stand right before the closing three
			}
			return end
		}
	}
	return len(text)
}

// path reads the dotted key of a header, up to its ].
func path(text string) (parts []string) {
	for {
		text = strings.TrimLeft(text, " \t")
		if text == "" {
			return parts
		}
		end := strings.IndexAny(text, " \t.]")
		if text[0] == '"' || text[0] == '\'' {
			end = stringEnd(text, 0)
		}
		if end < 0 {
			return parts
		}
		part := text[:end]
		if strings.HasPrefix(part, "'") {
			part = strings.Trim(part, "'")
		} else if unquoted, err := strconv.Unquote(part); err == nil {
			part = unquoted
		}
		parts = append(parts, part)
		text = strings.TrimLeft(text[end:], " \t")
		if !strings.HasPrefix(text, ".") {
			return parts
		}
		text = text[1:]
	}
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
