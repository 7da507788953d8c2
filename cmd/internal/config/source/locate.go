package source

import (
	"regexp"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"
)

// A position is the line of a value in a TOML file, and the positions of the values in it.
type position struct {
	line, depth int
	keys        map[string]*position
	elems       []*position
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
	if n == 0 {
		l.stop()
		return ""
	}
	if n > 0 {
		rest = rest[:n]
	}
	l.pos += len(rest)
	return rest
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
	found := stringPattern().FindString(l.text[l.pos:])
	l.pos += len(found)
	return found
}

// stringPattern matches a string of any of the four kinds. Quotes may stand right before the
// closing three.
var stringPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^("""(?s:\\.|[^\\])*?"{3,5}|'''(?s:.)*?'{3,5}|"(\\.|[^"\\\n])*"|'[^'\n]*')`)
})
