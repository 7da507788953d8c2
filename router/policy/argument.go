package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/gobwas/glob"
)

// maxEncoded bounds how often JSON in a string in JSON … is decoded. A string that is JSON beyond
// that matches every condition.
const maxEncoded = 4

// A condition is a compiled Condition.
type condition struct {
	path   []string // the names, folded
	values []test
}

// A test is a compiled value of a condition.
type test struct {
	want any           // string, float64 or bool
	glob *glob.Pattern // of a string
}

func compileCondition(c Condition) (condition, error) {
	out := condition{path: strings.Split(fold(c.Argument), ".")}
	for _, v := range c.Values {
		t := test{want: v}
		if text, ok := v.(string); ok {
			t.want = fold(text)
			var err error
			if t.glob, err = glob.Compile(fold(text)); err != nil {
				return out, fmt.Errorf("the pattern %q: %w", text, err)
			}
		}
		out.values = append(out.values, t)
	}
	return out, nil
}

// fold returns a text in which letters that differ in case only are the same.
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, text)
}

// holds reports whether all conditions hold for the arguments of a call. It reads them as any
// server might: the JSON is decoded, each of several equal names counts, and so does any element of
// an array and any value within an object.
func holds(all []condition, arguments []byte) bool {
	x := search{all: all, found: make([]bool, len(all))}
	var start []position
	for i := range all {
		start = append(start, position{i, 0})
	}
	x.read(arguments, start, 0)
	return !slices.Contains(x.found, false)
}

// A search looks for values that match conditions.
type search struct {
	all   []condition
	found []bool
}

// A position is how far the path of a condition leads to a value: its first names are those of the
// objects around the value.
type position struct{ condition, names int }

// read searches a JSON text. encoded is in how many strings the text was.
func (x *search) read(text []byte, at []position, encoded int) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	x.value(dec, at, encoded)
}

// value reads and searches the next value.
func (x *search) value(dec *json.Decoder, at []position, encoded int) {
	token, err := dec.Token()
	if err != nil {
		return
	}
	switch v := token.(type) {
	case json.Delim:
		for dec.More() {
			inner := at
			if v == '{' {
				name, err := dec.Token()
				if err != nil {
					return
				}
				inner = x.below(at, name.(string))
			}
			if len(inner) == 0 {
				if dec.Decode(new(json.RawMessage)) != nil {
					return
				}
				continue
			}
			x.value(dec, inner, encoded)
		}
		dec.Token()
	default:
		x.test(v, at)
		if text, ok := v.(string); ok {
			x.embedded(text, at, encoded)
		}
	}
}

// below returns the positions for the member of an object.
func (x *search) below(at []position, name string) []position {
	name = fold(visible(name))
	var inner []position
	add := func(p position) {
		if !slices.Contains(inner, p) {
			inner = append(inner, p)
		}
	}
	for _, p := range at {
		left := x.all[p.condition].path[p.names:]
		if len(left) == 0 {
			add(p)
			continue
		}
		if left[0] == "*" {
			add(position{p.condition, p.names + 1})
		}
		for n := 1; n <= len(left); n++ { // a name may have dots itself
			if strings.Join(left[:n], ".") == name {
				add(position{p.condition, p.names + n})
			}
		}
	}
	return inner
}

// visible returns a name as a server may read it that drops NULs at the start or ends a text at a
// NUL.
func visible(name string) string {
	name, _, _ = strings.Cut(strings.TrimLeft(name, "\x00"), "\x00")
	return name
}

// embedded searches a string that is JSON itself: some servers decode it where their tool wants
// something else than a string.
func (x *search) embedded(text string, at []position, encoded int) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || !strings.ContainsRune(`{["`, rune(trimmed[0])) || !json.Valid([]byte(trimmed)) {
		return
	}
	if encoded == maxEncoded {
		for _, p := range at {
			x.found[p.condition] = true
		}
		return
	}
	x.read([]byte(trimmed), at, encoded+1)
}

// test tests a string, number, boolean or null.
func (x *search) test(v any, at []position) {
	var forms []string
	for _, p := range at {
		c := &x.all[p.condition]
		if x.found[p.condition] || len(c.path) > p.names {
			continue
		}
		if forms == nil {
			forms = formsOf(v)
		}
		x.found[p.condition] = slices.ContainsFunc(c.values, func(t test) bool { return t.matches(v, forms) })
	}
}

// formsOf returns the texts that globs are compared with.
func formsOf(v any) []string {
	var all []string
	switch v := v.(type) {
	case string:
		all = pathForms(v)
	case json.Number:
		all = []string{v.String()}
		if f, err := v.Float64(); err == nil {
			all = append(all, strconv.FormatFloat(f, 'g', -1, 64), strconv.FormatFloat(f, 'f', -1, 64))
		}
	default:
		all = []string{fmt.Sprint(v)}
		if v == nil {
			all = []string{"null"}
		}
	}
	for i := range all {
		all[i] = fold(all[i])
	}
	return all
}

// matches reports whether a value matches. Servers convert values, so a number is equal to a string
// that spells it, and a boolean to one that spells it, or to 0 or 1.
func (t test) matches(v any, forms []string) bool {
	switch want := t.want.(type) {
	case float64:
		var text string
		switch v := v.(type) {
		case json.Number:
			text = v.String()
		case string:
			text = strings.TrimSpace(v)
		default:
			return false
		}
		// A number that is too large is infinite, and equal to others that are.
		f, err := strconv.ParseFloat(text, 64)
		return f == want && (err == nil || f > 1 || f < -1)
	case bool:
		words := map[bool][]string{true: {"1", "T", "Y", "ON", "YES", "TRUE"}, false: {"0", "F", "N", "OFF", "NO", "FALSE"}}[want]
		return slices.ContainsFunc(forms, func(text string) bool { return slices.Contains(words, strings.TrimSpace(text)) })
	}
	return slices.ContainsFunc(forms, func(text string) bool { return text == t.want || t.glob.Match(text) })
}

// pathForms returns a text as it is, and as programs read it that take it for a path: without
// spaces and quotes around it, with / for \, without . and .. and repeated slashes, and the path of
// a file URI. A relative path also begins with ./, and one that leaves its folder by .. with /.
func pathForms(text string) []string {
	all := []string{text}
	add := func(s string) {
		if s != "" && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	bare := strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '"' || r == '\'' })
	add(bare)
	for _, s := range slices.Clone(all) {
		addPaths(s, add)
	}
	if len(bare) > 5 && strings.EqualFold(bare[:5], "file:") {
		if u, err := url.Parse(bare); err == nil {
			addPaths(u.Path+u.Opaque, add)
		}
		addPaths(bare[5:], add)
		if decoded, err := url.PathUnescape(bare[5:]); err == nil {
			addPaths(decoded, add)
		}
	}
	return all
}

// addPaths adds the forms of a path.
func addPaths(text string, add func(string)) {
	add(text)
	text, _, _ = strings.Cut(text, "\x00") // where C ends it
	text = strings.ReplaceAll(text, `\`, "/")
	for _, device := range []string{"//?/", "//./"} {
		if rest, ok := strings.CutPrefix(text, device); ok {
			addPaths(rest, add)
		}
	}
	if text == "" {
		return
	}
	cleaned := path.Clean(text)
	up := cleaned
	for up == ".." || strings.HasPrefix(up, "../") {
		up = strings.TrimPrefix(up[2:], "/")
	}
	if up != cleaned {
		up = "/" + up
	}
	add(cleaned)
	add(up)
	if cleaned[0] != '/' {
		add("./" + cleaned) // so that */name matches name
	}
	if strings.HasSuffix(text, "/") || strings.HasSuffix(text, "/.") || strings.HasSuffix(text, "/..") {
		add(strings.TrimSuffix(cleaned, "/") + "/") // a folder
		add(strings.TrimSuffix(up, "/") + "/")
	}
}
