package table

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gobwas/glob"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config/source"
	"toolman/mcpwire/sanitize"
	"toolman/router/policy"
)

// A Table is one table of the file. A method for a key that is not there returns the key's default.
type Table struct {
	*source.Problems
	Line   int
	values map[string]source.Node
}

// New reads a table and adds a problem for each key that is not among known. where is its place,
// for messages.
func New(p *source.Problems, n source.Node, where string, known ...string) Table {
	t := Table{p, n.Line, map[string]source.Node{}}
	members, _ := n.Value.([]source.Member)
	for _, m := range members {
		t.values[m.Key] = m.Node
		if !slices.Contains(known, m.Key) {
			p.Fail(m.Line, insteadOf(m.Key, known), "unknown key %s %s", source.Shown(m.Key), where)
		}
	}
	return t
}

// Inner reads the table that is the value of key. ok is false if there is none, and t is empty
// then. path is its place, for messages.
func (t Table) Inner(key, path string, known ...string) (inner Table, ok bool) {
	hint := "write [" + path + "] above its keys"
	if t.Format == "json" {
		hint = `write "` + key + `": {…}`
	}
	if _, ok := get[[]source.Member](t, key, path, "a table", hint); ok {
		return New(t.Problems, t.values[key], "in "+path, known...), true
	}
	return Table{Problems: t.Problems, Line: t.LineOf(key)}, false
}

// Has reports whether the table has a key.
func (t Table) Has(key string) bool {
	_, ok := t.values[key]
	return ok
}

// At returns the value of a key.
func (t Table) At(key string) source.Node { return t.values[key] }

// LineOf returns the line of a key, or 0.
func (t Table) LineOf(key string) int { return t.values[key].Line }

// FailAt adds a problem with the value of a key.
func (t Table) FailAt(key, hint, format string, args ...any) {
	t.Fail(t.LineOf(key), hint, format, args...)
}

// Instead returns the hint to write a key with a value.
func (t Table) Instead(key, value string) string { return "write " + t.Write(key, value) }

// wrong adds a problem with a value of another kind than expected.
func (t Table) wrong(key, expected, example string) {
	t.FailAt(key, t.Instead(key, example), "%s is %s where %s is expected", key, t.values[key].Kind(), expected)
}

// Needs adds a problem with a key that is given without another.
func (t Table) Needs(key, other, example string) {
	if t.Has(key) && !t.Has(other) {
		t.FailAt(key, t.Instead(other, example)+" too, or take "+key+" out", "%s needs %s", key, other)
	}
}

// Outside adds a problem with a value of the right kind that is not allowed.
func (t Table) Outside(key, hint string) {
	value := fmt.Sprint(t.values[key].Value)
	if s, ok := t.values[key].Value.(string); ok {
		value = source.Shown(s)
	}
	t.FailAt(key, hint, "%s cannot be %s", key, value)
}

// get reads a value of a kind. ok is false if it is not there or, which is a problem, of another
// kind. path is its place, for messages.
func get[T any](t Table, key, path, kind, hint string) (value T, ok bool) {
	n, has := t.values[key]
	value, ok = n.Value.(T)
	if has && !ok {
		t.Fail(n.Line, hint, "%s is %s where %s is expected", path, n.Kind(), kind)
	}
	return value, ok
}

// read is get for a value that is not a table.
func read[T any](t Table, key, kind, example string) (value T, ok bool) {
	return get[T](t, key, key, kind, t.Instead(key, example))
}

// Text reads a string.
func (t Table) Text(key, example string) (string, bool) {
	return read[string](t, key, "a string", example)
}

// Filled reads a string that is not blank; "" stands for one that is not there, or is blank. hint
// is for the latter.
func (t Table) Filled(key, example, hint string) string {
	s, ok := t.Text(key, example)
	if ok && strings.TrimSpace(s) == "" {
		t.Outside(key, hint)
		return ""
	}
	return s
}

// Required reads a string that has to be there. path is the table's place, for messages.
func (t Table) Required(key, example, path string) string {
	if !t.Has(key) {
		t.Fail(t.Line, t.Instead(key, example), "%s has no %s", path, key)
	}
	return t.Filled(key, example, t.Instead(key, example))
}

// Choice reads one of several strings, the first of which is the default.
func (t Table) Choice(key string, of ...string) string {
	s, ok := t.Text(key, `"`+of[0]+`"`)
	if !ok {
		return of[0]
	}
	if !slices.Contains(of, s) {
		t.Outside(key, t.Instead(key, `"`+strings.Join(of, `" or "`)+`"`))
	}
	return s
}

// Bool reads a boolean.
func (t Table) Bool(key string, absent bool) bool {
	if b, ok := read[bool](t, key, "a boolean", fmt.Sprint(!absent)); ok {
		return b
	}
	return absent
}

// AutoBool reads true, false or "auto", which is nil and the default.
func (t Table) AutoBool(key string) *bool {
	n, ok := t.values[key]
	switch b, isBool := n.Value.(bool); {
	case isBool:
		return &b
	case !ok || n.Value == "auto":
	case n.Kind() == "a string":
		t.Outside(key, `write "auto", true or false`)
	default:
		t.wrong(key, `"auto", true or false`, `"auto"`)
	}
	return nil
}

// Words reads one of several strings, or a whole number from 1 to most, or "" and 0.
func (t Table) Words(key string, most int64, expected, hint string, words ...string) (string, int64) {
	n, ok := t.values[key]
	word, _ := n.Value.(string)
	number, _ := n.Value.(int64)
	switch kind := n.Kind(); {
	case !ok || slices.Contains(words, word) || number > 0 && number <= most:
		return word, number
	case kind == "a string" || kind == "a number":
		t.Outside(key, hint)
	default:
		t.wrong(key, expected, `"`+words[0]+`"`)
	}
	return "", 0
}

// Int reads a whole number from least to most.
func (t Table) Int(key string, absent, least, most int64) int64 {
	i, ok := read[int64](t, key, "a whole number", fmt.Sprint(absent))
	if !ok {
		return absent
	}
	if i < least || i > most {
		t.Outside(key, fmt.Sprintf("write a whole number from %d to %d", least, most))
	}
	return i
}

// maxDuration bounds every duration, well below where seconds overflow a time.Duration.
const maxDuration = 24 * time.Hour

// Duration reads a Go duration or a number of seconds, from least to a day.
func (t Table) Duration(key string, absent, least time.Duration) time.Duration {
	n, ok := t.values[key]
	if !ok {
		return absent
	}
	seconds := math.NaN()
	switch v := n.Value.(type) {
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
	if !(seconds >= least.Seconds() && seconds <= maxDuration.Seconds()) { // NaN is in no range
		t.Outside(key, fmt.Sprintf(`write a duration from %v to 24h such as "10s" or "1m30s", or a number of seconds`, least))
		return absent
	}
	return time.Duration(math.Round(seconds * float64(time.Second)))
}

// A Timed is a member of a table of durations.
type Timed struct {
	Key string
	For time.Duration
}

// Durations reads a table of durations, from least to a day, with any keys that pass the check.
func (t Table) Durations(key, example string, least time.Duration, check Check) (all []Timed) {
	for _, m := range t.Members(key, key, t.Instead(key, example)) {
		if problem, hint := check(m.Key); problem != "" {
			t.Fail(m.Line, hint, "%s", problem)
			continue
		}
		one := Table{t.Problems, m.Line, map[string]source.Node{m.Key: m.Node}}
		if d := one.Duration(m.Key, 0, least); d > 0 {
			all = append(all, Timed{m.Key, d})
		}
	}
	return all
}

// A Check returns what is wrong with a string of an array, and what to write instead; "" is
// nothing.
type Check func(text string) (problem, hint string)

// Strings reads an array of strings, each with its line.
func (t Table) Strings(key, example string, check Check) []policy.Entry {
	return t.StringsAt(key, key, example, check)
}

// StringsAt is Strings for a table whose keys messages name with their path.
func (t Table) StringsAt(key, path, example string, check Check) []policy.Entry {
	elems, _ := read[[]source.Node](t, key, "an array of strings", example)
	return t.Elements(path, example, elems, check)
}

// FilledStrings is StringsAt for an array that must not be empty.
func (t Table) FilledStrings(key, path, example string, check Check) []string {
	all := t.StringsAt(key, path, example, check)
	if elems, isArray := t.values[key].Value.([]source.Node); isArray && len(elems) == 0 {
		t.FailAt(key, t.Instead(key, example), "%s is empty", path)
	}
	return Texts(all)
}

// Elements reads the strings of an array. path is its place, for messages.
func (t Table) Elements(path, example string, elems []source.Node, check Check) []policy.Entry {
	var all []policy.Entry
	for _, n := range elems {
		text, ok := n.Value.(string)
		if !ok {
			t.Fail(n.Line, t.Instead(path[strings.LastIndex(path, ".")+1:], example), "%s holds %s where a string is expected", path, n.Kind())
		} else if problem, hint := check(text); problem != "" {
			t.Fail(n.Line, hint, "%s", problem)
		}
		all = append(all, policy.Entry{Text: text, Line: n.Line})
	}
	return all
}

// Match checks that a string of the array key matches a pattern.
func Match(key, pattern, hint string) Check {
	return func(text string) (string, string) {
		if regexp.MustCompile(pattern).MatchString(text) {
			return "", ""
		}
		return fmt.Sprintf("%s cannot hold %s", key, source.Shown(text)), hint
	}
}

// OneOf checks that a string of the array key is one of several.
func OneOf(key string, of []string) Check {
	return func(text string) (string, string) {
		if slices.Contains(of, text) {
			return "", ""
		}
		return fmt.Sprintf("%s cannot hold %s", key, source.Shown(text)), "the values are " + sanitize.Line(strings.Join(of, ", "))
	}
}

// Globs reads an array of names and globs.
func (t Table) Globs(key, example string) []policy.Entry { return t.Strings(key, example, Glob(key)) }

// Glob checks a name or glob of the array key.
func Glob(key string) Check {
	return func(text string) (problem, hint string) {
		if text == "" {
			return key + " holds an empty pattern, which matches nothing", `take it out, or write "*" to match everything`
		}
		if _, err := glob.Compile(text); err != nil {
			return "the pattern " + source.Shown(text) + " of " + key + " cannot be used: " + sanitize.Line(err.Error()),
				`close every [ and {, or write \ before a character to match it`
		}
		return "", ""
	}
}

// Texts returns the strings of entries.
func Texts(entries []policy.Entry) []string {
	var all []string
	for _, e := range entries {
		all = append(all, e.Text)
	}
	return all
}

// Tables reads an array of tables. noun is what one of them is and keys are some of its keys, for
// messages.
func (t Table) Tables(key, noun, keys string) []source.Node {
	hint := "write [[" + key + "]], with two brackets, above the keys of each " + noun
	if t.Format == "json" {
		hint = `write "` + key + `": [{` + keys + `}, …]`
	}
	all, _ := get[[]source.Node](t, key, key, "an array of tables", hint)
	return slices.DeleteFunc(slices.Clone(all), func(n source.Node) bool {
		_, ok := n.Value.([]source.Member)
		if !ok {
			t.Fail(n.Line, hint, "%s holds %s where a table is expected", key, n.Kind())
		}
		return !ok
	})
}

// Members reads a table with any keys. path is its place and hint what to write, for messages.
func (t Table) Members(key, path, hint string) []source.Member {
	all, _ := get[[]source.Member](t, key, path, "a table", hint)
	return all
}

// StringMembers reads a table of strings with any keys that valid accepts; valid adds a problem
// with others. example is the table's value, for messages.
func (t Table) StringMembers(key, example string, valid func(m source.Member) bool) []source.Member {
	all, _ := read[[]source.Member](t, key, "a table of strings", example)
	return slices.DeleteFunc(slices.Clone(all), func(m source.Member) bool {
		_, isText := m.Value.(string)
		if !valid(m) {
			return true
		}
		if !isText {
			t.Fail(m.Line, "put the value in quotes", "%s is %s where a string is expected", sanitize.Line(key+"."+m.Key), m.Kind())
		}
		return !isText
	})
}

// insteadOf returns what to write instead of an unknown key.
func insteadOf(key string, known []string) string {
	if hint := elsewhere()[key]; hint != "" {
		return hint
	}
	return cli.DidYouMean(key, known, "", "the keys here are "+strings.Join(known, ", "))
}

// elsewhere returns hints for keys of the configurations of MCP clients.
func elsewhere() map[string]string {
	const url, allow = "write it as url", "write the tools that agents may use in exposed_tools"
	return map[string]string{
		"mcp_servers":          "write it as mcpServers",
		"context_servers":      "write it as mcpServers",
		"inputs":               "take it out: toolman asks for no values; write a ${input:NAME} as ${NAME}, and set that variable where toolman is started",
		"environment":          "variables for a server are in env",
		"envFile":              "write the variables of that file in env, or set them where toolman is started",
		"transport":            "write it as type, or leave it out",
		"serverUrl":            url,
		"httpUrl":              url,
		"http_headers":         "write it as headers",
		"headersHelper":        "write the headers in headers; for tokens that expire there is oauth",
		"auth":                 "write it as oauth",
		"bearer_token_env_var": "write headers = { Authorization = \"Bearer ${NAME}\" }",
		"disabledTools":        allow,
		"disabled_tools":       allow,
		"excludeTools":         allow,
		"includeTools":         allow,
		"enabled_tools":        allow,
		"startup_timeout_sec":  "write it as start_timeout",
		"tool_timeout_sec":     "write it as call_timeout",
	}
}
