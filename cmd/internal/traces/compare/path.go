package compare

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"toolman/cmd/internal/cli"
)

// A step leads from a value to one in it: a member of an object, or an element of an array.
type step struct {
	key   string // of a member; of an element, how it is named: "3" or "name=echo"
	index bool
}

// A path leads to a value in a message.
type path []step

func (p path) member(key string) path { return append(p[:len(p):len(p)], step{key: key}) }

func (p path) element(name string) path { return append(p[:len(p):len(p)], step{name, true}) }

func (p path) String() string {
	var b strings.Builder
	for i, s := range p {
		switch {
		case s.index:
			b.WriteString("[" + s.key + "]")
		case !isPlain(s.key):
			b.WriteString("[" + string(cli.JSON(s.key)) + "]")
		case i > 0:
			b.WriteString("." + s.key)
		default:
			b.WriteString(s.key)
		}
	}
	return b.String()
}

// isPlain reports whether a key can be in a path without quotes.
func isPlain(key string) bool {
	return key != "" && !strings.ContainsAny(key, ".[]*\" \t\n")
}

// A pattern is a path with wildcards: * is any member, [*] any element, and ** any steps, also
// none.
type pattern []step

const (
	anyKey = "*"
	deep   = "**"
)

// parsePattern reads what String writes, with wildcards. "$." before it is allowed.
func parsePattern(text string) (pattern, error) {
	rest := strings.TrimPrefix(strings.TrimPrefix(text, "$"), ".")
	var p pattern
	for rest != "" {
		var s step
		var err error
		if rest[0] == '[' {
			s, rest, err = bracket(rest[1:])
		} else {
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			s.key, rest = rest[:end], rest[end:]
			if s.key == "" {
				err = errors.New("a name is missing")
			}
		}
		if err != nil {
			return nil, fmt.Errorf("path %q: %w", text, err)
		}
		p = append(p, s)
		if after, ok := strings.CutPrefix(rest, "."); ok {
			if rest = after; rest == "" {
				return nil, fmt.Errorf("path %q: it ends with a dot", text)
			}
		}
	}
	if len(p) == 0 {
		return nil, fmt.Errorf("path %q: it is empty", text)
	}
	return p, nil
}

// bracket reads an element or a quoted key behind its bracket.
func bracket(text string) (s step, rest string, err error) {
	if !strings.HasPrefix(text, `"`) {
		inner, rest, found := strings.Cut(text, "]")
		if !found || inner == "" {
			return s, "", errors.New("a [ needs an index, * or a quoted name, and a ]")
		}
		return step{inner, true}, rest, nil
	}
	quoted, err := strconv.QuotedPrefix(text)
	if err == nil {
		s.key, err = strconv.Unquote(quoted)
	}
	rest, found := strings.CutPrefix(strings.TrimPrefix(text, quoted), "]")
	if err != nil || !found {
		return s, "", errors.New(`a name in brackets is written ["name"]`)
	}
	return s, rest, nil
}

// covers reports whether the pattern matches the path or a value that it is in.
func (p pattern) covers(at path) bool {
	if len(p) == 0 {
		return true
	}
	if p[0].key == deep && !p[0].index {
		for i := range len(at) + 1 {
			if p[1:].covers(at[i:]) && (len(p) > 1 || i > 0) {
				return true
			}
		}
		return false
	}
	if len(at) == 0 || p[0].index != at[0].index {
		return false
	}
	return (p[0].key == anyKey || p[0].key == at[0].key) && p[1:].covers(at[1:])
}
