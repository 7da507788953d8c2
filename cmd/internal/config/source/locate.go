package source

import (
	"strings"

	"github.com/BurntSushi/toml"
)

// A position is the line of a value in a TOML file, and the positions of the values in it.
type position struct {
	line, depth int
	keys        map[string]*position
	elems       []*position
}

// key returns the position of a table's key, or nil.
func (p *position) key(name string) *position {
	if p == nil {
		return nil
	}
	return p.keys[name]
}

// elem returns the position of an array's i-th element, or nil.
func (p *position) elem(i int) *position {
	if p == nil || i >= len(p.elems) {
		return nil
	}
	return p.elems[i]
}

// A locator walks over TOML and records the line of each value. It assumes that the text is valid
// and stops where it is not, which the library reports. It only finds the end of values.
type locator struct {
	text    string
	pos     int
	line    int // of counted
	counted int // how far line ends are counted in line
	deep    int // the line that is nested deeper than maxDepth, or 0
}

// locate returns the positions of a file, and the line that is nested too deep, or 0.
func locate(text string) (root *position, deep int) {
	l := &locator{text: text, line: 1}
	root = &position{line: 1}
	table := root
	for l.blank(true) {
		switch {
		case l.eat("[["):
			table = l.element(l.path(root))
			l.eat("]]")
		case l.eat("["):
			table = l.path(root)
			l.eat("]")
		default:
			l.pair(table)
		}
	}
	return root, l.deep
}

// pair reads key = value.
func (l *locator) pair(table *position) {
	p := l.path(table)
	l.blank(false)
	if !l.eat("=") {
		l.stop()
		return
	}
	l.value(p)
}

// value skips the value of p.
func (l *locator) value(p *position) {
	l.blank(false)
	switch {
	case l.eat("["):
		for l.blank(true) && !l.eat("]") {
			l.value(l.element(p))
			l.blank(true)
			l.eat(",")
		}
	case l.eat("{"):
		for l.blank(true) && !l.eat("}") {
			l.pair(p)
			l.blank(true)
			l.eat(",")
		}
	case l.quoted() == "":
		l.run(",]}#\r\n")
	}
}

// path skips a dotted key and returns its position under p: in the last element of an array of
// tables.
func (l *locator) path(p *position) *position {
	for {
		l.blank(false)
		name := l.name()
		if n := len(p.elems); n > 0 {
			p = p.elems[n-1]
		}
		child := p.keys[name]
		if child == nil {
			child = l.under(p)
			if p.keys == nil {
				p.keys = map[string]*position{}
			}
			p.keys[name] = child
		}
		p = child
		l.blank(false)
		if !l.eat(".") {
			return p
		}
	}
}

// element adds an element to the array at p.
func (l *locator) element(p *position) *position {
	e := l.under(p)
	p.elems = append(p.elems, e)
	return e
}

// under returns a new position on the current line, one level below p.
func (l *locator) under(p *position) *position {
	l.line += strings.Count(l.text[l.counted:l.pos], "\n")
	l.counted = l.pos
	if p.depth == maxDepth {
		l.deep = l.line
		l.stop()
	}
	return &position{line: l.line, depth: p.depth + 1}
}

// name skips one part of a key and returns it unquoted.
func (l *locator) name() string {
	raw := l.quoted()
	if raw == "" {
		return l.run(" \t.=]}#\r\n")
	}
	var key struct{ K string }
	if _, err := toml.Decode("K="+raw, &key); err != nil {
		l.stop()
	}
	return key.K
}

// stop ends the walk.
func (l *locator) stop() {
	l.pos = len(l.text)
}

// eat skips token if it is next.
func (l *locator) eat(token string) bool {
	if !strings.HasPrefix(l.text[l.pos:], token) {
		return false
	}
	l.pos += len(token)
	return true
}

// run skips to the next of the characters and returns the text before it. It stops if that is
// empty.
func (l *locator) run(until string) string {
	rest := l.text[l.pos:]
	n := strings.IndexAny(rest, until)
	if n < 0 {
		n = len(rest)
	}
	if n == 0 {
		l.stop()
	}
	l.pos = min(l.pos+n, len(l.text))
	return rest[:n]
}

// blank skips blanks and, with lines, line ends and comments. It reports whether anything is left.
func (l *locator) blank(lines bool) bool {
	cutset := " \t"
	if lines {
		cutset = " \t\r\n"
	}
	for {
		rest := strings.TrimLeft(l.text[l.pos:], cutset)
		l.pos = len(l.text) - len(rest)
		if !lines || !strings.HasPrefix(rest, "#") {
			return rest != ""
		}
		l.run("\n")
	}
}

// quoted skips a string of any of the four kinds and returns it with its quotes, or "" if none is
// next.
func (l *locator) quoted() string {
	rest := l.text[l.pos:]
	if rest == "" || rest[0] != '"' && rest[0] != '\'' {
		return ""
	}
	quote := rest[:1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(rest, triple) {
		quote = triple
	}
	end := stringEnd(rest, quote)
	if end < 0 {
		l.stop()
		return ""
	}
	l.pos += end
	return rest[:end]
}

// stringEnd returns the offset after the string at the start of text, or -1 if it does not end.
func stringEnd(text, quote string) int {
	for i := len(quote); i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote[0] == '"':
			i++
		case strings.HasPrefix(text[i:], quote):
			end := i + len(quote)
			for len(quote) == 3 && strings.HasPrefix(text[end:], quote[:1]) {
				end++ // quotes may stand right before the closing three
			}
			return end
		case text[i] == '\n' && len(quote) == 1:
			return -1
		}
	}
	return -1
}
