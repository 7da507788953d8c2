package jsonschema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxSteps  = 300_000    // of a check; one takes about a microsecond
	manySteps = 50_000_000 // of a check by a schema that is trusted
	maxFound  = 100        // problems in one object or array
)

// A Problem is one place where a value is wrong.
type Problem struct {
	Path    string `json:"path"` // a JSON pointer (RFC 6901) into the value, "" for all of it
	Message string `json:"message"`
}

// String returns the problem in one line.
func (p Problem) String() string {
	if p.Path == "" {
		return p.Message
	}
	return "at " + p.Path + ": " + p.Message
}

// errUndecided ends a check that takes too long, or that meets an extreme number.
const errUndecided = giveUp("undecided")

// Check returns where arguments are wrong. If it cannot decide, it returns nothing. The problems
// contain names and texts of the caller and the server, which are not sanitized.
func (s *Schema) Check(arguments []byte) []Problem {
	v, err := decode(arguments)
	if err != nil {
		return nil
	}
	return s.problems(v, maxSteps)
}

// CheckValue is Check by a schema that is trusted, of a value of any size that encoding/json has
// decoded, with json.Number.
func (s *Schema) CheckValue(v any) []Problem { return s.problems(v, manySteps) }

func (s *Schema) problems(v any, steps int) (found []Problem) {
	c := checker{s, steps}
	var all []Problem
	if orGiveUp(func() { all = c.check(s.root, v, 0) }) != nil {
		return nil
	}
	for _, p := range all {
		if !slices.Contains(found, p) {
			found = append(found, p)
		}
	}
	return found
}

// A checker validates one value. The problems that its methods return have paths relative to the
// value that they get.
type checker struct {
	*Schema
	steps int // that are left
}

// spend takes steps.
func (c *checker) spend(n int) {
	if c.steps -= n; c.steps < 0 {
		panic(errUndecided)
	}
}

// check validates a value against a schema.
func (c *checker) check(schema, v any, nesting int) (found []Problem) {
	if c.spend(1); nesting > maxNesting {
		panic(errUndecided)
	}
	q, ok := schema.(object)
	if !ok {
		return problemIf(schema == false, "is not allowed")
	}
	nesting++
	if ref, ok := q["$ref"].(string); ok {
		found = c.check(c.refs[ref], v, nesting)
		if c.draft7 {
			return found
		}
	}
	if found := c.kind(q, v); found != nil {
		return found
	}
	switch v := v.(type) {
	case string:
		found = append(found, c.text(q, v)...)
	case json.Number:
		found = append(found, c.number(q, v)...)
	case []any:
		found = append(found, c.array(q, v, nesting)...)
	case object:
		found = append(found, c.object(q, v, nesting)...)
	}
	return append(found, c.combined(q, v, nesting)...)
}

func problemIf(wrong bool, format string, values ...any) []Problem {
	if !wrong {
		return nil
	}
	return []Problem{{"", fmt.Sprintf(format, values...)}}
}

// kind checks the type, and the values that are allowed.
func (c *checker) kind(q object, v any) []Problem {
	is := c.typeOf(v)
	switch want := q["type"].(type) {
	case string:
		if want != is && (want != "number" || is != "integer") {
			return problemIf(true, "has type %q, want %q", is, want)
		}
	case []any:
		if !slices.Contains(want, any(is)) && (is != "integer" || !slices.Contains(want, "number")) {
			names := strings.ReplaceAll(strings.Trim(fmt.Sprint(want), "[]"), " ", ", ")
			return problemIf(true, "has type %q, want one of %q", is, names)
		}
	}
	enum, isEnum := q["enum"].([]any)
	want, isConst := q["const"]
	if !isEnum && !isConst {
		return nil
	}
	text := c.canonical(v)
	equal := func(one any) bool { return c.canonical(one) == text }
	if isEnum && !slices.ContainsFunc(enum, equal) {
		return problemIf(true, "has to be one of %s", asJSON(enum))
	}
	return problemIf(isConst && !equal(want), "has to be %s", asJSON(want))
}

func (c *checker) typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case json.Number:
		if !strings.ContainsAny(string(v), ".eE") || c.rational(v).IsInt() {
			return "integer"
		}
		return "number"
	}
	return "object"
}

func (c *checker) rational(v any) *big.Rat {
	n := rational(v)
	if n == nil {
		panic(errUndecided)
	}
	return n
}

func asJSON(v any) string {
	text, _ := json.Marshal(v) // it came as JSON
	return string(text)
}

// canonical returns a text that is equal for equal values.
func (c *checker) canonical(v any) string {
	text := string(c.appendCanonical(nil, v))
	c.spend(len(text) / 100)
	return text
}

func (c *checker) appendCanonical(dst []byte, v any) []byte {
	c.spend(1)
	switch v := v.(type) {
	case json.Number:
		return append(dst, c.rational(v).RatString()...)
	case []any:
		dst = append(dst, '[')
		for _, one := range v {
			dst = append(c.appendCanonical(dst, one), ',')
		}
		return append(dst, ']')
	case object:
		dst = append(dst, '{')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			dst = append(c.appendCanonical(strconv.AppendQuote(dst, name), v[name]), ',')
		}
		return append(dst, '}')
	case string:
		return strconv.AppendQuote(dst, v)
	}
	return fmt.Append(dst, v)
}

// limit checks a size against two keywords.
func (c *checker) limit(q object, least, most string, n int, what string) []Problem {
	if low := q[least]; low != nil && c.rational(low).Cmp(big.NewRat(int64(n), 1)) > 0 {
		return problemIf(true, "has to have at least %v %s", low, what)
	}
	high := q[most]
	return problemIf(high != nil && c.rational(high).Cmp(big.NewRat(int64(n), 1)) < 0, "has to have at most %v %s", high, what)
}

func (c *checker) text(q object, v string) []Problem {
	c.spend(len(v) / 1000)
	found := c.limit(q, "minLength", "maxLength", utf8.RuneCountInString(v), "characters")
	expression, ok := q["pattern"].(string)
	return append(found, problemIf(ok && !c.matches(expression, v), "does not match the regular expression %q", expression)...)
}

func (c *checker) matches(expression, text string) bool {
	p := c.patterns[expression]
	c.spend(len(text) * p.size / 100)
	return p.MatchString(text)
}

func (c *checker) number(q object, v json.Number) (found []Problem) {
	for _, bound := range []struct {
		keyword, words string
		wrong          func(sign int) bool // of the value minus the bound
	}{
		{"minimum", "at least", func(sign int) bool { return sign < 0 }},
		{"maximum", "at most", func(sign int) bool { return sign > 0 }},
		{"exclusiveMinimum", "more than", func(sign int) bool { return sign <= 0 }},
		{"exclusiveMaximum", "less than", func(sign int) bool { return sign >= 0 }},
	} {
		if b := q[bound.keyword]; b != nil && bound.wrong(c.rational(v).Cmp(c.rational(b))) {
			found = append(found, problemIf(true, "has to be %s %v", bound.words, b)...)
		}
	}
	if of := q["multipleOf"]; of != nil && !new(big.Rat).Quo(c.rational(v), c.rational(of)).IsInt() {
		found = append(found, problemIf(true, "has to be a multiple of %v", of)...)
	}
	return found
}

func (c *checker) array(q object, v []any, nesting int) []Problem {
	found := c.limit(q, "minItems", "maxItems", len(v), "elements")
	first, _ := q["prefixItems"].([]any)
	rest, hasRest := q["items"]
	if c.draft7 {
		first = nil
		if tuple, is := rest.([]any); is {
			first = tuple
			rest, hasRest = q["additionalItems"]
		}
	}
	contains, hasContains := q["contains"]
	contained := 0
	places := map[string]int{}
	for i, one := range v {
		if i < len(first) {
			found = append(found, below(strconv.Itoa(i), c.check(first[i], one, nesting))...)
		} else if hasRest {
			found = append(found, below(strconv.Itoa(i), c.check(rest, one, nesting))...)
		}
		if hasContains && len(c.check(contains, one, nesting)) == 0 {
			contained++
		}
		if q["uniqueItems"] == true {
			text := c.canonical(one)
			if j, twice := places[text]; twice {
				found = append(found, problemIf(true, "has equal elements %d and %d", j, i)...)
			}
			places[text] = i
		}
		if len(found) > maxFound {
			return found
		}
	}
	switch _, least := q["minContains"]; {
	case !hasContains:
	case contained == 0 && (c.draft7 || !least):
		found = append(found, problemIf(true, "has no element that is as contains says")...)
	case !c.draft7:
		found = append(found, c.limit(q, "minContains", "maxContains", contained, "elements that are as contains says")...)
	}
	return found
}

// below prefixes the paths of problems of a member or an element with its name.
func below(name string, found []Problem) []Problem {
	for i := range found {
		found[i].Path = "/" + escape(name) + found[i].Path
	}
	return found
}

func (c *checker) object(q, v object, nesting int) []Problem {
	c.spend(len(v))
	found := c.limit(q, "minProperties", "maxProperties", len(v), "properties")
	missing := func(names any, why string) {
		list, _ := names.([]any)
		for _, name := range list {
			c.spend(1)
			if _, has := v[name.(string)]; !has {
				found = append(found, problemIf(true, "missing property '%s'%s", name, why)...)
			}
		}
	}
	missing(q["required"], "")
	sub := func(key string) object { named, _ := q[key].(object); return named }
	properties, patterns := sub("properties"), sub("patternProperties")
	additional, hasAdditional := q["additionalProperties"]
	names, hasNames := q["propertyNames"]
	dependencies := []object{sub("dependentSchemas"), sub("dependentRequired")}
	if c.draft7 {
		dependencies = []object{sub("dependencies")}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if hasNames && len(c.check(names, name, nesting)) > 0 {
			found = append(found, problemIf(true, "the name '%s' is not one that the schema allows", name)...)
		}
		schema, known := properties[name]
		if known {
			found = append(found, below(name, c.check(schema, v[name], nesting))...)
		}
		for expression, schema := range patterns {
			if c.matches(expression, name) {
				known = true
				found = append(found, below(name, c.check(schema, v[name], nesting))...)
			}
		}
		switch {
		case known || !hasAdditional:
		case additional == false:
			found = append(found, problemIf(true, "unexpected property '%s'", name)...)
		default:
			found = append(found, below(name, c.check(additional, v[name], nesting))...)
		}
		for _, all := range dependencies {
			if dependent, has := all[name]; has && isStrings(dependent) {
				missing(dependent, ", which '"+name+"' needs")
			} else if has {
				found = append(found, c.check(dependent, v, nesting)...)
			}
		}
		if len(found) > maxFound {
			break
		}
	}
	return found
}

// combined checks the schemas that apply to the same value.
func (c *checker) combined(q object, v any, nesting int) (found []Problem) {
	list := func(key string) []any { all, _ := q[key].([]any); return all }
	for _, schema := range list("allOf") {
		found = append(found, c.check(schema, v, nesting)...)
	}
	if all := list("anyOf"); all != nil {
		if problems, fit := c.alternatives(all, v, nesting); fit == 0 {
			found = append(found, problems...)
		}
	}
	if all := list("oneOf"); all != nil {
		problems, fit := c.alternatives(all, v, nesting)
		if fit == 0 {
			found = append(found, problems...)
		}
		found = append(found, problemIf(fit > 1, "does not fit exactly one of the alternatives (oneOf)")...)
	}
	if schema, ok := q["not"]; ok {
		found = append(found, problemIf(len(c.check(schema, v, nesting)) == 0, "is not allowed")...)
	}
	if condition, ok := q["if"]; ok {
		branch := "then"
		if len(c.check(condition, v, nesting)) > 0 {
			branch = "else"
		}
		if schema, ok := q[branch]; ok {
			found = append(found, c.check(schema, v, nesting)...)
		}
	}
	return found
}

// alternatives returns how many schemas a value fits, and what is wrong with it if it fits none. If
// some schemas fit but for inner parts of the value, only their problems count.
func (c *checker) alternatives(all []any, v any, nesting int) (found []Problem, fit int) {
	var inner []Problem
	for _, schema := range all {
		problems := c.check(schema, v, nesting)
		if len(problems) == 0 {
			fit++
		}
		found = append(found, problems...)
		if !slices.ContainsFunc(problems, func(p Problem) bool { return p.Path == "" }) {
			inner = append(inner, problems...)
		}
	}
	if inner != nil {
		found = inner
	}
	return found, fit
}
