package edit

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"toolman/cmd/internal/config/source"
	"toolman/mcpwire/sanitize"
)

// parseJSON parses JSON with comments and trailing commas. The offsets of the values are those in
// text. An empty file, or one with nothing but comments, is no value.
func parseJSON(text []byte) (root hujson.Value, empty bool, p *source.Problem) {
	end, deep := scanJSON(text)
	if deep > 0 {
		return root, false, tooDeep(1 + bytes.Count(text[:deep], []byte("\n")))
	}
	if end {
		return root, true, nil
	}
	// The parser wants a line end after a comment that ends the file.
	root, err := hujson.Parse(append(text[:len(text):len(text)], '\n'))
	if err != nil {
		p = jsonProblem(err)
		p.Line = min(p.Line, lineAt(text, len(text)))
		return root, false, p
	}
	return root, false, nil
}

// scanJSON reports whether there is nothing but blanks and comments, and at which offset values are
// nested deeper than the parser, which is recursive, should go.
func scanJSON(text []byte) (empty bool, deep int) {
	const most = 1000
	empty = true
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case ' ', '\t', '\r', '\n':
			continue
		case '/':
			if n := comment(text[i:]); n > 0 {
				i += n - 1
				continue
			}
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			if depth++; depth > most {
				return false, i
			}
		case '}', ']':
			depth--
		}
		empty = false
	}
	return empty, 0
}

// comment returns the length of the comment at the start of text, without its line end, or 0. A
// comment that does not end goes to the end of the text.
func comment(text []byte) int {
	var n int
	switch {
	case bytes.HasPrefix(text, []byte("//")):
		if n = bytes.IndexByte(text, '\n'); n > 0 && text[n-1] == '\r' {
			n--
		}
	case bytes.HasPrefix(text, []byte("/*")):
		if n = bytes.Index(text[2:], []byte("*/")); n >= 0 {
			n += 4
		}
	default:
		return 0
	}
	if n < 0 {
		return len(text)
	}
	return n
}

// jsonProblem returns the parser's error without values that it quotes.
func jsonProblem(err error) *source.Problem {
	p := &source.Problem{Msg: "this is not JSON"}
	var column int
	if _, err := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &p.Line, &column); err != nil {
		return p
	}
	_, reason, _ := strings.Cut(err.Error(), ": line")
	_, reason, _ = strings.Cut(reason, ": ")
	switch {
	case strings.Contains(reason, "EOF"):
		p.Msg += ": the text ends too early"
	case strings.HasPrefix(reason, "invalid literal"):
		p.Msg += ": a value is no valid string, number, true, false or null"
	default:
		p.Msg += ": " + sanitize.Line(reason)
	}
	return p
}

// jsonAt returns the value at a path.
func jsonAt(text []byte, most int, path []string) (source.Node, bool, *source.Problem) {
	v, empty, p := parseJSON(text)
	if p != nil || empty {
		return source.Node{}, false, p
	}
	r := jsonReader{text: text, line: 1, bounds: bounds{most: most}}
	for i, key := range path {
		m, p := jsonMember(text, v, path[:i], key)
		if p != nil || m == nil {
			return source.Node{}, false, p
		}
		r.at(m.Name.StartOffset)
		v = m.Value
	}
	line := r.at(v.StartOffset)
	n := r.node(v, 0)
	n.Line = line
	return n, r.problem == nil, r.problem
}

// jsonMember returns the member key of the object v, which is at path, or nil.
func jsonMember(text []byte, v hujson.Value, path []string, key string) (*hujson.ObjectMember, *source.Problem) {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, notTable(lineAt(text, v.StartOffset), path, jsonKind(v))
	}
	var found *hujson.ObjectMember
	for i := range object.Members {
		m := &object.Members[i]
		if m.Name.Value.(hujson.Literal).String() != key {
			continue
		}
		if found != nil {
			return nil, twice(lineAt(text, m.Name.StartOffset), key)
		}
		found = m
	}
	return found, nil
}

func lineAt(text []byte, offset int) int {
	return 1 + bytes.Count(text[:min(offset, len(text))], []byte("\n"))
}

func jsonKind(v hujson.Value) string {
	switch v.Value.Kind() {
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 't', 'f':
		return "a boolean"
	case '[':
		return "an array"
	case '{':
		return "an object"
	}
	return "null"
}

// A jsonReader turns parsed values into nodes with lines.
type jsonReader struct {
	text    []byte
	line    int // of counted
	counted int
	bounds
}

// at returns the line of an offset. Offsets have to grow.
func (r *jsonReader) at(offset int) int {
	offset = min(offset, len(r.text))
	if offset > r.counted {
		r.line += bytes.Count(r.text[r.counted:offset], []byte("\n"))
		r.counted = offset
	}
	return r.line
}

func (r *jsonReader) node(v hujson.Value, depth int) source.Node {
	n := source.Node{Line: r.at(v.StartOffset)}
	if r.exceeded(n.Line, depth) {
		return n
	}
	switch value := v.Value.(type) {
	case *hujson.Object:
		members := []source.Member{}
		for _, m := range value.Members {
			line := r.at(m.Name.StartOffset)
			inner := r.node(m.Value, depth+1)
			inner.Line = line
			members = append(members, source.Member{Key: m.Name.Value.(hujson.Literal).String(), Node: inner})
		}
		n.Value = members
	case *hujson.Array:
		elems := []source.Node{}
		for _, e := range value.Elements {
			elems = append(elems, r.node(e, depth+1))
		}
		n.Value = elems
	case hujson.Literal:
		n.Value = jsonScalar(value)
	}
	return n
}

func jsonScalar(l hujson.Literal) any {
	switch l.Kind() {
	case '"':
		return l.String()
	case 't', 'f':
		return l.Bool()
	case '0':
		if i, err := strconv.ParseInt(string(l), 10, 64); err == nil {
			return i
		}
		return l.Float()
	}
	return nil
}
