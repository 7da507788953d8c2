package edit

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"toolman/cmd/internal/config/source"
)

// A Format is the format of a file.
type Format string

// The formats. JSON can have comments and trailing commas.
const (
	JSON Format = "json"
	TOML Format = "toml"
	YAML Format = "yaml"
)

// Limits of a file. Clients keep other things in theirs: ~/.claude.json of Claude Code has the
// history of all projects.
const (
	maxJSON  = 32 << 20
	maxOther = 4 << 20 // YAML and TOML

	maxDepth = 500     // of the nesting of what is read
	maxNodes = 100_000 // values that are read

	maxCompared = 5_000_000 // values of a file before and after an edit
)

// MaxBytes returns how long a file may be.
func (f Format) MaxBytes() int64 {
	if f == JSON {
		return maxJSON
	}
	return maxOther
}

var bom = []byte("\xef\xbb\xbf")

// At returns the value at a path of keys, and whether there is one. An empty file has no values.
func At(f Format, text []byte, path ...string) (source.Node, bool, *source.Problem) {
	return at(f, text, maxNodes, path...)
}

// at is At with a bound for the number of values.
func at(f Format, text []byte, most int, path ...string) (source.Node, bool, *source.Problem) {
	if p := checkText(f, text); p != nil {
		return source.Node{}, false, p
	}
	text = bytes.TrimPrefix(text, bom)
	switch f {
	case TOML:
		root, p := source.Parse("toml", text)
		if p != nil {
			return source.Node{}, false, p
		}
		return descend(root, path)
	case YAML:
		return yamlAt(text, most, path)
	}
	return jsonAt(text, most, path)
}

// checkText checks what holds for all formats.
func checkText(f Format, text []byte) *source.Problem {
	switch {
	case int64(len(text)) > f.MaxBytes():
		return &source.Problem{Msg: fmt.Sprintf("it is longer than %d bytes", f.MaxBytes())}
	case !utf8.Valid(text):
		line := 1
		for one := range bytes.Lines(text) {
			if !utf8.Valid(one) {
				break
			}
			line++
		}
		return &source.Problem{Line: line, Msg: "the text is not UTF-8", Hint: "save the file as UTF-8"}
	case bytes.HasPrefix(bytes.TrimPrefix(text, bom), bom):
		return &source.Problem{Line: 1, Msg: "there are two byte order marks", Hint: "save the file as UTF-8"}
	}
	return nil
}

// descend returns the value at a path below n.
func descend(n source.Node, path []string) (source.Node, bool, *source.Problem) {
	for i, key := range path {
		members, ok := n.Value.([]source.Member)
		if n.Value == nil {
			return source.Node{}, false, nil
		}
		if !ok {
			return source.Node{}, false, notTable(n.Line, path[:i], n.Kind())
		}
		found := false
		for _, m := range members {
			if m.Key == key {
				n, found = m.Node, true
			}
		}
		if !found {
			return source.Node{}, false, nil
		}
	}
	return n, true, nil
}

// notTable is the problem of a path that leads through a value without keys.
func notTable(line int, path []string, kind string) *source.Problem {
	what := "the file"
	if len(path) > 0 {
		what = source.Shown(path[len(path)-1])
	}
	return &source.Problem{Line: line, Msg: what + " is " + kind + " where an object is expected"}
}

// twice is the problem of a key that is given twice.
func twice(line int, key string) *source.Problem {
	return &source.Problem{Line: line, Msg: "the key " + source.Shown(key) + " has already been given", Hint: "keep one of the two"}
}

func tooDeep(line int) *source.Problem {
	return &source.Problem{Line: line, Msg: "values are nested too deep"}
}

// bounds ends the reading of a file that has too much.
type bounds struct {
	nodes   int             // so far
	most    int             // of nodes
	problem *source.Problem // the first one
}

// exceeded counts a value on a line.
func (b *bounds) exceeded(line, depth int) bool {
	b.nodes++
	switch {
	case b.problem != nil:
	case depth > maxDepth:
		b.problem = tooDeep(line)
	case b.nodes > b.most:
		b.problem = &source.Problem{Line: line, Msg: fmt.Sprintf("there are more than %d values", b.most)}
	}
	return b.problem != nil
}
