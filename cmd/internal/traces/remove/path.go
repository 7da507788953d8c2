package remove

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"toolman/jsonrpc"
	"toolman/jsonrpc/trace/filter"
	"toolman/jsonrpc/trace/redact"
)

var placeholder = []byte(`"[redacted]"`)

// A path chooses values in messages: "params.arguments.*[2].text", or only in messages of a method.
type path struct {
	text   string
	method string // "": any; may have *
	steps  []step
	found  int
}

// A step leads from a value to some of the values in it.
type step struct {
	key   string
	index int
	array bool // of an array, not of an object
	any   bool // all of them
}

// parsePath reads [METHOD:]PATH.
func parsePath(text string) (*path, error) {
	p := &path{text: text}
	rest := text
	if at := strings.IndexByte(text, ':'); at >= 0 && !strings.Contains(text[:at], "[") {
		p.method, rest = text[:at], text[at+1:]
	}
	rest = strings.TrimPrefix(rest, "$.")
	rest = strings.TrimPrefix(rest, "msg.")
	for first := true; rest != ""; first = false {
		var s step
		var err error
		switch {
		case rest[0] == '[':
			s, rest, err = bracket(rest)
		case rest[0] == '.' && !first:
			s, rest, err = word(rest[1:])
		case first:
			s, rest, err = word(rest)
		default:
			err = errors.New("a . or [ is missing")
		}
		if err != nil {
			return nil, err
		}
		p.steps = append(p.steps, s)
	}
	if len(p.steps) == 0 {
		return nil, errors.New("it is empty")
	}
	return p, nil
}

// word reads the key of a step, up to the next one.
func word(text string) (step, string, error) {
	end := strings.IndexAny(text, ".[")
	if end < 0 {
		end = len(text)
	}
	if end == 0 {
		return step{}, "", errors.New("a key is missing")
	}
	return step{key: text[:end], any: text[:end] == "*"}, text[end:], nil
}

// bracket reads [2], [*] or ["a key"].
func bracket(text string) (step, string, error) {
	if strings.HasPrefix(text, `["`) {
		quoted, err := strconv.QuotedPrefix(text[1:])
		rest, closed := strings.CutPrefix(text[1+len(quoted):], "]")
		if err != nil || !closed || !jsonrpc.Valid([]byte(quoted)) {
			return step{}, "", fmt.Errorf("%s is not a key in quotes and brackets", text)
		}
		return step{key: string(jsonrpc.Unquote([]byte(quoted)))}, rest, nil
	}
	inner, rest, closed := strings.Cut(text[1:], "]")
	n, err := strconv.Atoi(inner)
	if !closed || inner != "*" && (err != nil || n < 0) {
		return step{}, "", fmt.Errorf("%s is not a number or * in brackets", text)
	}
	return step{index: n, array: true, any: inner == "*"}, rest, nil
}

// of reports whether the path is about messages of a method.
func (p *path) of(method string) bool {
	return p.method == "" || filter.Matches(method, p.method)
}

// remove returns a message without the values at the path, and where they were.
func (p *path) remove(msg []byte) (out []byte, where []string) {
	r := removal{}
	out = r.from(msg, p.steps, "msg")
	p.found += r.found
	return out, r.where
}

// A removal replaces what a path leads to.
type removal struct {
	where []string
	found int
}

// from returns text, a value of JSON at a path, without what the steps lead to.
func (r *removal) from(text []byte, steps []step, at string) []byte {
	if len(steps) == 0 {
		if string(text) == string(placeholder) {
			return text
		}
		r.found++
		r.where = append(r.where, at)
		return placeholder
	}
	whole := jsonrpc.Span{Lo: 0, Hi: len(text)}
	var out []byte
	done := 0
	follow := func(value jsonrpc.Span, at string) {
		before := text[value.Lo:value.Hi]
		if after := r.from(before, steps[1:], at); string(after) != string(before) {
			out = append(append(out, text[done:value.Lo]...), after...)
			done = value.Hi
		}
	}
	switch s := steps[0]; {
	case len(text) > 0 && text[0] == '"':
		return r.within(text, steps, at)
	case s.array:
		i := 0
		for value := range jsonrpc.Elements(text, whole) {
			if s.any || s.index == i {
				follow(value, redact.ElementPath(at, i))
			}
			i++
		}
	default:
		for key, value := range jsonrpc.Members(text, whole) {
			if s.any || s.key == key {
				follow(value, redact.MemberPath(at, jsonrpc.AppendQuoted(nil, key)))
			}
		}
	}
	return append(out, text[done:]...)
}

// within follows the steps in JSON in a string.
func (r *removal) within(text []byte, steps []step, at string) []byte {
	inner := []byte(strings.TrimSpace(string(jsonrpc.Unquote(text))))
	if len(inner) == 0 || inner[0] != '{' && inner[0] != '[' || !jsonrpc.Valid(inner) {
		return text
	}
	known := len(r.where)
	out := r.from(inner, steps, at)
	if len(r.where) == known {
		return text
	}
	r.where = append(r.where[:known], at) // the path of the string
	return jsonrpc.AppendQuoted(nil, out)
}
