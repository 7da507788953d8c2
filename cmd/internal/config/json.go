package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"toolman/mcpwire/sanitize"
)

// A jsonReader reads JSON token by token, for the lines and so that a key given twice is seen.
type jsonReader struct {
	text    []byte
	dec     *json.Decoder
	line    int // of counted
	counted int
}

// parseJSON reads a file that is one JSON object.
func parseJSON(text []byte) (node, *Problem) {
	r := &jsonReader{text: text, dec: json.NewDecoder(bytes.NewReader(text)), line: 1}
	r.dec.UseNumber()
	root, problem := r.value(0)
	if problem != nil {
		return node{}, problem
	}
	if _, ok := root.value.([]member); !ok {
		return node{}, &Problem{Line: root.line, Msg: "the file holds " + root.kind(), Hint: `write an object: {"servers": []}`}
	}
	if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
		return node{}, &Problem{Line: r.here(), Msg: "there is more after the end of the object", Hint: "keep one object in the file"}
	}
	return root, nil
}

// here is the line of the token just read.
func (r *jsonReader) here() int {
	end := int(r.dec.InputOffset())
	r.line += bytes.Count(r.text[r.counted:end], []byte("\n"))
	r.counted = end
	return r.line
}

// value reads the next value.
func (r *jsonReader) value(depth int) (node, *Problem) {
	token, err := r.dec.Token()
	if err != nil {
		return node{}, r.problem(err)
	}
	n := node{line: r.here(), value: token}
	if depth > maxDepth {
		return node{}, tooDeep(n.line)
	}
	var problem *Problem
	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			n.value, problem = r.object(depth)
		} else {
			n.value, problem = r.array(depth)
		}
	case json.Number:
		n.value, problem = r.number(t)
	}
	return n, problem
}

func (r *jsonReader) object(depth int) ([]member, *Problem) {
	members := []member{}
	seen := map[string]bool{}
	for r.dec.More() {
		token, err := r.dec.Token()
		if err != nil {
			return nil, r.problem(err)
		}
		key, line := token.(string), r.here()
		if seen[key] {
			return nil, &Problem{Line: line, Msg: "the key " + shown(key) + " has already been given", Hint: "keep one of the two"}
		}
		seen[key] = true
		n, problem := r.value(depth + 1)
		if problem != nil {
			return nil, problem
		}
		members = append(members, member{key, node{line, n.value}})
	}
	return members, r.end()
}

func (r *jsonReader) array(depth int) ([]node, *Problem) {
	nodes := []node{}
	for r.dec.More() {
		n, problem := r.value(depth + 1)
		if problem != nil {
			return nil, problem
		}
		nodes = append(nodes, n)
	}
	return nodes, r.end()
}

// end reads the closing bracket.
func (r *jsonReader) end() *Problem {
	if _, err := r.dec.Token(); err != nil {
		return r.problem(err)
	}
	return nil
}

// number is an int64 if t is a whole number that fits, a float64 if not.
func (r *jsonReader) number(t json.Number) (any, *Problem) {
	if i, err := t.Int64(); err == nil {
		return i, nil
	}
	f, err := t.Float64()
	if err != nil {
		return nil, &Problem{Line: r.line, Msg: "a number is out of range"}
	}
	return f, nil
}

// problem is err as JSON's own. Its messages quote single characters only.
func (r *jsonReader) problem(err error) *Problem {
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		before := r.text[:min(int(e.Offset), len(r.text))]
		return &Problem{Line: 1 + bytes.Count(before, []byte("\n")), Msg: "this is not JSON: " + sanitize.Line(e.Error())}
	}
	return &Problem{Line: 1 + bytes.Count(r.text, []byte("\n")), Msg: "this is not JSON: the text ends too early"}
}
