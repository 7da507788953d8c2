package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"toolman/mcpwire/sanitize"
)

// A jsonReader reads JSON token by token: it needs the lines, and notices a key that is given
// twice.
type jsonReader struct {
	text    []byte
	dec     *json.Decoder
	line    int // of counted
	counted int
	problem *Problem // the first one
}

// parseJSON parses a file that is one JSON object.
func parseJSON(text []byte) (Node, *Problem) {
	r := &jsonReader{text: text, dec: json.NewDecoder(bytes.NewReader(text)), line: 1}
	r.dec.UseNumber()
	root := r.value(0)
	if r.problem != nil {
		return Node{}, r.problem
	}
	if _, ok := root.Value.([]Member); !ok {
		return Node{}, &Problem{Line: root.Line, Msg: "the file holds " + root.Kind(), Hint: `write an object: {"servers": []}`}
	}
	if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
		return Node{}, &Problem{Line: r.here(), Msg: "there is more after the end of the object", Hint: "keep one object in the file"}
	}
	return root, nil
}

// here returns the line of the token just read.
func (r *jsonReader) here() int {
	end := int(r.dec.InputOffset())
	r.line += bytes.Count(r.text[r.counted:end], []byte("\n"))
	r.counted = end
	return r.line
}

// token reads a token, or returns nil if there is a problem. The messages of encoding/json quote
// single characters only.
func (r *jsonReader) token() json.Token {
	if r.problem != nil {
		return nil
	}
	token, err := r.dec.Token()
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		before := r.text[:min(int(e.Offset), len(r.text))]
		r.problem = &Problem{Line: 1 + bytes.Count(before, []byte("\n")), Msg: "this is not JSON: " + sanitize.Line(e.Error())}
		if strings.HasPrefix(e.Error(), "invalid character '/'") {
			r.problem.Hint = "take comments out, which JSON does not have"
		}
	} else if err != nil {
		r.problem = &Problem{Line: 1 + bytes.Count(r.text, []byte("\n")), Msg: "this is not JSON: the text ends too early"}
	}
	return token
}

func (r *jsonReader) more() bool { return r.problem == nil && r.dec.More() }

func (r *jsonReader) value(depth int) Node {
	token := r.token()
	n := Node{Line: r.here(), Value: token}
	if depth > maxDepth && r.problem == nil {
		r.problem = tooDeep(n.Line)
	}
	switch number, isNumber := token.(json.Number); {
	case token == json.Delim('{'):
		n.Value = r.object(depth + 1)
	case token == json.Delim('['):
		elems := []Node{}
		for r.more() {
			elems = append(elems, r.value(depth+1))
		}
		r.token()
		n.Value = elems
	case isNumber:
		n.Value = r.number(number)
	}
	return n
}

func (r *jsonReader) object(depth int) []Member {
	members := []Member{}
	seen := map[string]bool{}
	for r.more() {
		key, isKey := r.token().(string)
		line := r.here()
		if seen[key] && isKey {
			r.problem = &Problem{Line: line, Msg: "the key " + Shown(key) + " has already been given", Hint: "keep one of the two"}
		}
		seen[key] = true
		members = append(members, Member{key, Node{line, r.value(depth).Value}})
	}
	r.token()
	return members
}

// number returns an int64 for a whole number that fits one, otherwise a float64.
func (r *jsonReader) number(n json.Number) any {
	if i, err := n.Int64(); err == nil {
		return i
	}
	f, err := n.Float64()
	if err != nil {
		r.problem = &Problem{Line: r.line, Msg: "a number is out of range"}
	}
	return f
}
