package provider

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode"
)

// A Level says how much of a tool's definition is left out. No level changes which arguments are
// valid.
type Level int

// The levels.
const (
	Whole Level = iota // nothing is left out
	Slim               // descriptions are shorter; titles, examples and redundant defaults are left out
	Max                // only what decides which arguments are valid stays, and the names
)

// levels are the values of the parameter slim.
var levels = [...]string{Whole: "false", Slim: "true", Max: "max"}

// ParseLevel returns the level for a value of the parameter slim.
func ParseLevel(value string) (Level, error) {
	if i := slices.Index(levels[:], value); i >= 0 {
		return Level(i), nil
	}
	return Whole, errors.New("slim must be true, false or max")
}

func (l Level) String() string { return levels[l] }

// maxSlim is the maximum length of a shortened description, in characters.
const maxSlim = 300

// notes are keywords that do not affect which values are valid, and tell a model little. shown are
// those that tell it more.
var (
	notes = []string{"$comment", "title", "examples", "example", "deprecated", "readOnly", "writeOnly"}
	shown = []string{"description", "default"}
)

// Slim returns the tool without what the level leaves out. A schema that cannot be decoded does not
// change.
func (t Tool) Slim(level Level) Tool {
	if level == Whole {
		return t
	}
	t.Description = shortened(t.Description, maxSlim)
	if level == Max {
		t.Description = ""
	}
	s, err := decode(t.Schema)
	if err != nil {
		return t
	}
	text, err := encode(newSlimmer(s, level).slim(s))
	if err != nil {
		return t
	}
	t.Schema = text
	t.Raw, err = encode(struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}{t.Name, t.Description, t.Schema})
	if err != nil {
		t.Raw = nil
	}
	return t
}

// A slimmer makes schemas slim. Its fields are what the keywords of one schema depend on elsewhere.
type slimmer struct {
	level     Level
	refers    bool // there are references
	evaluates bool // a keyword depends on which properties other keywords have allowed
	alike     bool // all drafts since the sixth read it alike
}

func newSlimmer(s schema, level Level) *slimmer {
	x := &slimmer{level: level, alike: true}
	x.inspect(s)
	return x
}

// inspect looks for keywords in all places, because references lead into unknown keywords too.
func (x *slimmer) inspect(v any) {
	switch v := v.(type) {
	case schema:
		for key, value := range v {
			switch key {
			case "$ref", "$dynamicRef", "$recursiveRef":
				x.refers = true
			case "unevaluatedProperties":
				x.evaluates, x.alike = true, false
			case "dependencies", "additionalItems", "prefixItems", "unevaluatedItems", "dependentRequired", "dependentSchemas", "minContains", "maxContains":
				x.alike = false
			case "items":
				x.alike = x.alike && !is[[]any](value)
			case "$schema":
				draft, _ := value.(string)
				x.alike = x.alike && !strings.Contains(draft, "draft-04") && !strings.Contains(draft, "draft-03")
			}
			x.inspect(value)
		}
	case []any:
		for _, one := range v {
			x.inspect(one)
		}
	}
}

// slim returns a schema without what the level leaves out.
func (x *slimmer) slim(s schema) schema {
	s = each(s, x.slim)
	if draft, ok := s["$schema"].(string); ok && (strings.Contains(draft, "2020-12") || !x.refers && x.alike) {
		delete(s, "$schema")
	}
	for _, key := range notes {
		delete(s, key)
	}
	if !x.refers {
		for _, key := range []string{"$id", "$anchor", "$defs", "definitions"} {
			delete(s, key)
		}
	}
	if allowsAll(s["additionalProperties"]) && !x.evaluates {
		delete(s, "additionalProperties")
	}
	if none, ok := s["required"].([]any); ok && len(none) == 0 {
		delete(s, "required")
	}
	if properties, ok := s["properties"].(schema); ok {
		dropDefaults(properties, s["required"])
	}
	x.describe(s)
	return s
}

// describe shortens or removes the keywords of a schema that tell a model what it means.
func (x *slimmer) describe(s schema) {
	if x.level == Max {
		for _, key := range shown {
			delete(s, key)
		}
		return
	}
	text, ok := s["description"].(string)
	if value, has := s["default"]; has && (isEmpty(value) || saysDefault(text, value)) {
		delete(s, "default")
	}
	if !ok {
		return
	}
	if s["description"] = firstSentence(text, maxSlim); s["description"] == "" {
		delete(s, "description")
	}
}

// dropDefaults removes the defaults of required properties, which no call uses.
func dropDefaults(properties schema, required any) {
	names, _ := required.([]any)
	for _, name := range names {
		name, _ := name.(string)
		if property, ok := properties[name].(schema); ok {
			delete(property, "default")
		}
	}
}

// isEmpty reports whether a default says no more than that the property may be absent.
func isEmpty(v any) bool {
	switch v := v.(type) {
	case []any:
		return len(v) == 0
	case schema:
		return len(v) == 0
	}
	return v == nil || v == false || v == ""
}

// saysDefault reports whether the first sentence of a description names the default.
func saysDefault(text string, value any) bool {
	said, err := encode(value)
	if err != nil {
		return false
	}
	sentence := firstSentence(text, maxSlim)
	words := strings.FieldsFunc(sentence, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("()[]{},;:='`\"", r) })
	return strings.Contains(strings.ToLower(sentence), "default") && slices.ContainsFunc(words, func(word string) bool {
		return strings.TrimRight(word, ".") == strings.Trim(string(said), `"`)
	})
}

func allowsAll(v any) bool {
	empty, ok := v.(schema)
	return v == true || ok && len(empty) == 0
}
