package config

import (
	"strings"

	"github.com/BurntSushi/toml"
)

// A place is where a value of a TOML file stands, and where the values in it do.
type place struct {
	line, depth int
	keys        map[string]*place
	elems       []*place
}

// key is the place of a table's key; nil when there is none.
func (p *place) key(name string) *place {
	if p == nil {
		return nil
	}
	return p.keys[name]
}

// elem is the place of an array's i-th element; nil when there is none.
func (p *place) elem(i int) *place {
	if p == nil || i >= len(p.elems) {
		return nil
	}
	return p.elems[i]
}

// A locator walks over TOML and notes on which line each value stands. It takes the text for valid and stops where it
// makes no sense of it: what is wrong there is the library's to say. Of values it needs to know only where they end.
type locator struct {
	text string
	pos  int
	line int // of counted
	// counted is how far line ends have been counted into line.
	counted int
	deep    int // the line that is nested deeper than maxDepth, or 0
}

// locate returns the places of a file, and the line where it is nested too deep, or 0.
func locate(text string) (root *place, deep int) {
	l := &locator{text: text, line: 1}
	root = &place{line: 1}
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

// pair is key = value.
func (l *locator) pair(table *place) {
	p := l.path(table)
	l.blank(false)
	if !l.eat("=") {
		l.stop()
		return
	}
	l.value(p)
}

// value moves past the value of p.
func (l *locator) value(p *place) {
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

// path moves past a dotted key and returns its place under p. Below an array of tables it is in the last of them.
func (l *locator) path(p *place) *place {
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
				p.keys = map[string]*place{}
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
func (l *locator) element(p *place) *place {
	e := l.under(p)
	p.elems = append(p.elems, e)
	return e
}

// under is a new place on the current line, one level below p.
func (l *locator) under(p *place) *place {
	l.line += strings.Count(l.text[l.counted:l.pos], "\n")
	l.counted = l.pos
	if p.depth == maxDepth {
		l.deep = l.line
		l.stop()
	}
	return &place{line: l.line, depth: p.depth + 1}
}

// name moves past one part of a key and returns it unquoted.
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
