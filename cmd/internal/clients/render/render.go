package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"toolman/cmd/internal/config/source"
)

// Quoted returns a string as JSON has it. TOML and YAML read the same in double quotes.
func Quoted(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// scalar returns a value that holds no others, as all formats have it.
func scalar(value any) string {
	switch v := value.(type) {
	case string:
		return Quoted(v)
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		s := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		return s
	case nil:
		return "null"
	}
	return fmt.Sprint(value) // a date of TOML
}

// LineEnd returns how the lines of a text end: as the first one does.
func LineEnd(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// A Layout is how JSON is laid out.
type Layout struct {
	Unit    string // one level of indentation
	NL      string // the end of a line
	Compact bool   // all on one line
}

// JSON returns a value as JSON, with its inner lines below an indentation.
func (l Layout) JSON(n source.Node, indent string) string {
	var parts []string
	ends := "{}"
	switch v := n.Value.(type) {
	case []source.Member:
		for _, m := range v {
			parts = append(parts, Quoted(m.Key)+": "+l.JSON(m.Node, indent+l.Unit))
		}
	case []source.Node:
		ends = "[]"
		for _, e := range v {
			parts = append(parts, l.JSON(e, indent+l.Unit))
		}
	default:
		return scalar(n.Value)
	}
	switch {
	case len(parts) == 0:
		return ends
	case l.Compact:
		return ends[:1] + strings.Join(parts, ", ") + ends[1:]
	}
	inner := l.NL + indent + l.Unit
	return ends[:1] + inner + strings.Join(parts, ","+inner) + l.NL + indent + ends[1:]
}

// TOML returns a value as TOML writes it on one line. TOML has no null.
func TOML(n source.Node) string {
	var parts []string
	switch v := n.Value.(type) {
	case []source.Member:
		for _, m := range v {
			parts = append(parts, TOMLKey(m.Key)+" = "+TOML(m.Node))
		}
		if len(parts) == 0 {
			return "{}"
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case []source.Node:
		for _, e := range v {
			parts = append(parts, TOML(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		return TOMLString(v)
	}
	return scalar(n.Value)
}

// TOMLString returns text as a TOML string on one line, without escapes if that is possible.
func TOMLString(text string) string {
	if strings.ContainsAny(text, `"\`) && !strings.ContainsFunc(text, func(r rune) bool { return r == '\'' || r < ' ' || r == 0x7f }) {
		return "'" + text + "'"
	}
	return escapeDEL(Quoted(text))
}

// escapeDEL escapes a character that JSON strings may hold, and those of TOML and YAML may not.
func escapeDEL(quoted string) string { return strings.ReplaceAll(quoted, "\x7f", `\u007f`) }

const alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// TOMLKey returns a key as TOML writes it.
func TOMLKey(key string) string {
	if key != "" && strings.Trim(key, alphanumeric+"_-") == "" {
		return key
	}
	return TOMLString(key)
}

// YAMLString returns a string without quotes where YAML of all versions reads it as that string.
func YAMLString(s string) string {
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return Quoted(s)
	}
	letter := s != "" && (s[0] == '/' || s[0] > '9' && strings.Contains(alphanumeric, s[:1]))
	if letter && strings.Trim(s, alphanumeric+"_./@-") == "" {
		return s
	}
	return escapeDEL(Quoted(s))
}

// YAMLLines returns the lines of an object, below no indentation.
func YAMLLines(members []source.Member) []string {
	var lines []string
	for _, m := range members {
		key := YAMLString(m.Key)
		switch v := m.Value.(type) {
		case []source.Member:
			if len(v) == 0 {
				lines = append(lines, key+": {}")
				continue
			}
			lines = append(lines, key+":")
			for _, inner := range YAMLLines(v) {
				lines = append(lines, "  "+inner)
			}
		case []source.Node:
			if len(v) == 0 {
				lines = append(lines, key+": []")
				continue
			}
			lines = append(lines, key+":")
			for _, e := range v {
				lines = append(lines, "  - "+yamlInline(e))
			}
		default:
			lines = append(lines, key+": "+yamlInline(m.Node))
		}
	}
	return lines
}

// yamlInline returns a value on one line: JSON, or a string that needs no quotes.
func yamlInline(n source.Node) string {
	if s, ok := n.Value.(string); ok {
		return YAMLString(s)
	}
	return Layout{Compact: true}.JSON(n, "")
}
