package jsonschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
)

// Limits of a schema.
const (
	maxBytes   = 256 << 10
	maxPaths   = 4 << 20 // bytes of the JSON pointers to all of its schemas
	maxNesting = 500     // of schemas
	maxPattern = 4096    // bytes of a regular expression
	maxProgram = 50_000  // instructions of all regular expressions: "x{1000}" has a thousand
)

// A Schema is a schema that can be used. It is safe for use by several goroutines.
type Schema struct {
	root     any // as encoding/json decodes it, with json.Number
	draft7   bool
	refs     map[string]any // targets of references
	patterns map[string]*pattern
}

type object = map[string]any

// A pattern is a regular expression.
type pattern struct {
	*regexp.Regexp
	size int // number of its instructions
}

// Compile reads a schema, of draft 2020-12 if it names none. The error says why it cannot be used.
func Compile(text []byte) (*Schema, error) {
	c := compiler{Schema: &Schema{refs: map[string]any{}, patterns: map[string]*pattern{}}, places: map[string]any{}}
	if err := orGiveUp(func() { c.compile(text) }); err != nil {
		return nil, err
	}
	return c.Schema, nil
}

// Definition returns a named definition in the schema; nil if there is none.
func (s *Schema) Definition(name string) *Schema {
	root, _ := s.root.(object)
	for _, key := range []string{"$defs", "definitions"} {
		named, _ := root[key].(object)
		if v, ok := named[name]; ok {
			definition := *s
			definition.root = v
			return &definition
		}
	}
	return nil
}

// A giveUp is the value of a panic that ends Compile or Schema.Check without a result: the reason.
type giveUp string

// Error implements error.
func (why giveUp) Error() string { return string(why) }

// orGiveUp calls f, and returns the reason if f gives up.
func orGiveUp(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			var is bool
			if err, is = p.(giveUp); !is {
				panic(p)
			}
		}
	}()
	f()
	return nil
}

func decode(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// isDraft7 reports whether a schema is of draft-07 (or 06, which has the same meaning here) and not
// of 2020-12 (or 2019-09).
func isDraft7(uri any) bool {
	if uri == nil {
		return false
	}
	text, _ := uri.(string)
	_, name, _ := strings.Cut(strings.TrimSuffix(text, "#"), "://")
	switch name {
	case "json-schema.org/draft/2020-12/schema", "json-schema.org/draft/2019-09/schema":
		return false
	case "json-schema.org/draft-07/schema", "json-schema.org/draft-06/schema":
		return true
	}
	panic(giveUp(fmt.Sprintf("schemas of %v are not supported", uri)))
}

// A compiler walks the schemas in a schema.
type compiler struct {
	*Schema
	places  map[string]any // schemas by JSON pointer
	paths   int            // bytes of these
	program int            // instructions of the patterns
}

// compile reads a schema.
func (c *compiler) compile(text []byte) {
	if len(text) == 0 || len(text) > maxBytes {
		panic(giveUp("the schema is missing or too long"))
	}
	var err error
	if c.root, err = decode(text); err != nil {
		panic(giveUp(err.Error()))
	}
	root, _ := c.root.(object)
	c.draft7 = isDraft7(root["$schema"])
	c.schema("", c.root, 0)
	for ref := range c.refs {
		fragment, local := strings.CutPrefix(ref, "#")
		at, err := url.PathUnescape(fragment)
		target, found := c.places[at]
		if !local || err != nil || !found {
			panic(giveUp(ref + " is not a schema in this schema"))
		}
		c.refs[ref] = target
	}
}

// schema checks the schema at a JSON pointer, so that Schema.Check can rely on its form.
func (c *compiler) schema(at string, v any, nesting int) {
	c.places[at] = v
	if c.paths += len(at); c.paths > maxPaths || nesting > maxNesting {
		panic(giveUp("the schema is too large or too deep"))
	}
	switch v := v.(type) {
	case bool:
	case object:
		for key, value := range v {
			if below := at + "/" + escape(key); !c.keyword(below, key, value, nesting+1) {
				panic(giveUp(below + " is not valid or not supported"))
			}
		}
	default:
		panic(giveUp(at + " has to be an object, true or false"))
	}
}

var types = []any{"null", "boolean", "object", "array", "number", "integer", "string"}

// keyword checks the value of a keyword, which is at a JSON pointer, and reports whether it is
// supported. Unknown keywords are ignored.
func (c *compiler) keyword(at, key string, v any, nesting int) bool {
	list, isList := v.([]any)
	named, isObject := v.(object)
	text, isText := v.(string)
	n := rational(v)
	switch key {
	case "items", "additionalItems", "not", "if", "then", "else", "additionalProperties", "contains", "propertyNames":
		if isList && key == "items" && c.draft7 {
			c.schemas(at, list, nesting)
		} else {
			c.schema(at, v, nesting)
		}
	case "allOf", "anyOf", "oneOf", "prefixItems":
		c.schemas(at, list, nesting)
		return len(list) > 0
	case "properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions":
		for name, one := range named {
			if key == "patternProperties" {
				c.pattern(name)
			}
			if key != "dependencies" || !isStrings(one) {
				c.schema(at+"/"+escape(name), one, nesting)
			}
		}
		return isObject
	case "dependentRequired":
		for _, one := range named {
			isObject = isObject && isStrings(one)
		}
		return isObject
	case "required":
		return isStrings(v)
	case "type":
		if !isList {
			list = []any{v}
		}
		return len(list) > 0 && !slices.ContainsFunc(list, func(one any) bool { return !slices.Contains(types, one) })
	case "enum":
		return len(list) > 0
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return n != nil && (key != "multipleOf" || n.Sign() > 0)
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains":
		return n != nil && n.IsInt() && n.Sign() >= 0 && n.Num().IsInt64()
	case "uniqueItems":
		_, isBool := v.(bool)
		return isBool
	case "pattern":
		c.pattern(text)
		return isText
	case "$ref":
		c.refs[text] = nil
		return isText
	case "$schema":
		return isDraft7(v) == c.draft7
	case "$id":
		return at == "/$id"
	case "$dynamicRef", "$recursiveRef", "unevaluatedItems", "unevaluatedProperties":
		return false
	}
	return true
}

func (c *compiler) schemas(at string, all []any, nesting int) {
	for i, one := range all {
		c.schema(at+"/"+strconv.Itoa(i), one, nesting)
	}
}

// pattern compiles a regular expression.
func (c *compiler) pattern(text string) {
	if c.patterns[text] != nil {
		return
	}
	if len(text) > maxPattern {
		panic(giveUp("a regular expression is too long"))
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		panic(giveUp(err.Error()))
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		panic(giveUp(err.Error()))
	}
	if c.program += len(program.Inst); c.program > maxProgram {
		panic(giveUp("the regular expressions are too large"))
	}
	c.patterns[text] = &pattern{regexp.MustCompile(text), len(program.Inst)} // syntax has compiled it
}

func isStrings(v any) bool {
	list, ok := v.([]any)
	return ok && !slices.ContainsFunc(list, func(one any) bool { _, is := one.(string); return !is })
}

// rational returns an exact number; nil if v is none, or an extreme one that would need much
// memory.
func rational(v any) *big.Rat {
	n, _ := v.(json.Number)
	_, exponent, _ := strings.Cut(strings.ToLower(string(n)), "e")
	if e, err := strconv.Atoi(exponent); exponent != "" && (err != nil || e > 400 || e < -400) || len(n) > 400 {
		return nil
	}
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return nil
	}
	return r
}

// escape makes a name part of a JSON pointer (RFC 6901).
func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}
