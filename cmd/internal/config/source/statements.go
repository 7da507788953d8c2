package source

import "strings"

// A Statement is a line of TOML that is no comment: a header of a table or an array of tables, or a
// key with its value, which can go over several lines.
type Statement struct {
	Keys   []string // the path of keys; that of a key begins with its header's
	Header bool
	Start  int // offsets in the text, without blanks and comments around it
	End    int
}

// Statements returns the statements of a valid TOML text. It ends early where the text is not
// valid.
func Statements(text string) []Statement {
	l := &locator{text: text, line: 1}
	var all []Statement
	var table []string
	for l.blank(true) {
		s := Statement{Start: l.pos}
		switch {
		case l.eat("[["):
			s.Header = true
			s.Keys = l.names()
			l.eat("]]")
		case l.eat("["):
			s.Header = true
			s.Keys = l.names()
			l.eat("]")
		default:
			s.Keys = append(table[:len(table):len(table)], l.names()...)
			if !l.eat("=") {
				return all
			}
			l.value(&position{})
		}
		if s.Header {
			table = s.Keys
		}
		s.End = len(strings.TrimRight(text[:l.pos], " \t"))
		all = append(all, s)
	}
	return all
}

// names skips a dotted key and returns its parts.
func (l *locator) names() (parts []string) {
	for {
		l.blank(false)
		parts = append(parts, l.name())
		l.blank(false)
		if !l.eat(".") {
			return parts
		}
	}
}
