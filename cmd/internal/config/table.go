package config

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A table is one table of the file. Its methods read a key as what it has to be, and note a problem if it is not.
type table struct {
	d      *decoder
	line   int
	values map[string]node
}

// table takes n, which is a table, and notes the keys that are not among known. where is for the message.
func (d *decoder) table(n node, where string, known ...string) table {
	t := table{d: d, line: n.line, values: map[string]node{}}
	if d.outline != nil {
		d.outline.known = append(d.outline.known, known...)
	}
	for _, m := range n.value.([]member) {
		t.values[m.key] = m.node
		if !slices.Contains(known, m.key) {
			d.fail(m.line, insteadOf(m.key, known), "unknown key %s %s", shown(m.key), where)
		}
	}
	return t
}

// within takes the table that is the value of key; absent is empty, and nobody is told its keys. path is where it is, for
// messages.
func (d *decoder) within(t table, key, path string, known ...string) table {
	n, ok := t.values[key]
	if _, isTable := n.value.([]member); isTable {
		return d.table(n, "in "+path, known...)
	}
	if ok {
		hint := "write [" + path + "] above its keys"
		if d.format == "json" {
			hint = `write "` + key + `": {…}`
		}
		d.fail(n.line, hint, "%s is %s where a table is expected", path, n.kind())
	}
	quiet := *d
	quiet.outline = nil
	return table{d: &quiet, line: n.line}
}

// has reports whether the table has a key.
func (t table) has(key string) bool {
	_, ok := t.values[key]
	return ok
}

// wrong notes that the value of key is of another kind than expected.
func (t table) wrong(key, expected, example string) {
	n := t.values[key]
	t.d.fail(n.line, "write "+t.d.write(key, example), "%s is %s where %s is expected", key, n.kind(), expected)
}

// outside notes that the value of key is of the right kind and still no good.
func (t table) outside(key, hint string) {
	n := t.values[key]
	value := fmt.Sprint(n.value)
	if s, ok := n.value.(string); ok {
		value = shown(s)
	}
	t.d.fail(n.line, hint, "%s cannot be %s", key, value)
}

// text reads a string. Absent and wrong give "", false.
func (t table) text(key, example string) (string, bool) {
	t.note(key, textForm())
	n, ok := t.values[key]
	if !ok {
		return "", false
	}
	s, ok := n.value.(string)
	if !ok {
		t.wrong(key, "a string", example)
	}
	return s, ok
}

// choice reads one of the strings, the first of which is the default.
func (t table) choice(key string, of ...string) string {
	s, ok := t.text(key, `"`+of[0]+`"`)
	t.note(key, form{"enum": of, "default": of[0]})
	if !ok {
		return of[0]
	}
	if !slices.Contains(of, s) {
		t.outside(key, "write "+t.d.write(key, `"`+strings.Join(of, `" or "`)+`"`))
	}
	return s
}

// boolean reads true or false.
func (t table) boolean(key string, absent bool) bool {
	t.note(key, form{"type": "boolean", "default": absent})
	n, ok := t.values[key]
	if !ok {
		return absent
	}
	b, ok := n.value.(bool)
	if !ok {
		t.wrong(key, "a boolean", fmt.Sprint(!absent))
	}
	return b
}

// maybe reads "auto", which is nil and the default, or true or false.
func (t table) maybe(key string) *bool {
	t.note(key, form{"enum": []any{"auto", true, false}, "default": "auto"})
	n, ok := t.values[key]
	if !ok || n.value == "auto" {
		return nil
	}
	b, ok := n.value.(bool)
	switch {
	case ok:
		return &b
	case n.kind() == "a string":
		t.outside(key, `write "auto", true or false`)
	default:
		t.wrong(key, `"auto", true or false`, `"auto"`)
	}
	return nil
}

// integer reads a whole number from least to most.
func (t table) integer(key string, absent, least, most int64) int64 {
	t.note(key, form{"type": "integer", "default": absent, "minimum": least, "maximum": most})
	n, ok := t.values[key]
	if !ok {
		return absent
	}
	i, ok := n.value.(int64)
	switch {
	case !ok:
		t.wrong(key, "a whole number", fmt.Sprint(absent))
	case i < least || i > most:
		t.outside(key, fmt.Sprintf("write a whole number from %d to %d", least, most))
	}
	return i
}

// maxDuration bounds every time there is, well below where seconds overflow a time.Duration.
const maxDuration = 24 * time.Hour

// duration reads a Go duration or a number of seconds, from least to a day.
func (t table) duration(key string, absent, least time.Duration) time.Duration {
	t.note(key, durationForm(least))
	t.note(key, form{"default": absent.String()})
	n, ok := t.values[key]
	if !ok {
		return absent
	}
	seconds := math.NaN()
	switch v := n.value.(type) {
	case string:
		if v, err := time.ParseDuration(v); err == nil {
			seconds = v.Seconds()
		}
	case int64:
		seconds = float64(v)
	case float64:
		seconds = v
	default:
		t.wrong(key, "a duration", `"10s"`)
		return absent
	}
	// Not a number is in no range.
	if !(seconds >= least.Seconds() && seconds <= maxDuration.Seconds()) {
		t.outside(key, fmt.Sprintf(`write a duration from %v to 24h such as "10s" or "1m30s", or a number of seconds`, least))
		return absent
	}
	return time.Duration(math.Round(seconds * float64(time.Second)))
}

// array reads an array of anything.
func (t table) array(key, example string) []node {
	t.note(key, stringsForm())
	n, ok := t.values[key]
	if !ok {
		return nil
	}
	elems, ok := n.value.([]node)
	if !ok {
		t.wrong(key, "an array of strings", example)
	}
	return elems
}

// strings reads an array of strings of a form. hint says what the form is.
func (t table) strings(key, example string, of func() *regexp.Regexp, hint string) []string {
	var all []string
	elems := t.array(key, example)
	if len(elems) == 0 && t.d.outline == nil {
		return nil // without having compiled the form: most files have few of the keys
	}
	t.note(key, listForm(form{"type": "string", "pattern": of().String()}))
	for _, n := range elems {
		text, ok := n.value.(string)
		switch {
		case !ok:
			t.d.fail(n.line, "write "+t.d.write(key, example), "%s holds %s where a string is expected", key, n.kind())
		case !of().MatchString(text):
			t.d.fail(n.line, hint, "%s cannot hold %s", key, shown(text))
		}
		all = append(all, text)
	}
	return all
}

// catalogBytes reads "auto", "all" or a positive number.
func (t table) catalogBytes(key string) CatalogBytes {
	t.note(key, form{"default": "auto", "anyOf": []any{
		form{"enum": []string{"auto", "all"}}, form{"type": "integer", "minimum": 1, "maximum": math.MaxInt32}}})
	n := t.values[key]
	switch v := n.value.(type) {
	case int64:
		if v > 0 && v <= math.MaxInt32 {
			return CatalogBytes(v)
		}
	case string:
		switch v {
		case "auto":
			return CatalogAuto
		case "all":
			return CatalogAll
		}
	}
	if _, ok := t.values[key]; ok {
		if n.kind() == "a string" || n.kind() == "a number" {
			t.outside(key, `write "auto", "all" or a positive number of bytes`)
		} else {
			t.wrong(key, `"auto", "all" or a number of bytes`, `"auto"`)
		}
	}
	return CatalogAuto
}
