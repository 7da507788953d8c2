package inputschema

import (
	"bytes"
	"encoding/json"
	"errors"
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
	if len(text) == 0 || len(text) > maxBytes {
		return nil, errors.New("the schema is missing or too long")
	}
	c := compiler{Schema: &Schema{refs: map[string]any{}, patterns: map[string]*pattern{}}, places: map[string]any{}}
	var err error
	if c.root, err = decode(text); err != nil {
		return nil, err
	}
	if root, ok := c.root.(object); ok {
		if c.draft7, err = isDraft7(root["$schema"]); err != nil {
			return nil, err
		}
	}
	if err := c.schema("", c.root, 0); err != nil {
		return nil, err
	}
	for ref := range c.refs {
		fragment, local := strings.CutPrefix(ref, "#")
		at, err := url.PathUnescape(fragment)
		target, found := c.places[at]
		if !local || err != nil || !found {
			return nil, fmt.Errorf("%s is not a schema in this schema", ref)
		}
		c.refs[ref] = target
	}
	return c.Schema, nil
}

func decode(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// isDraft7 reports whether a schema is of draft-07 (or 06, which means the same here) rather than
// 2020-12 (or 2019-09).
func isDraft7(uri any) (bool, error) {
	if uri == nil {
		return false, nil
	}
	text, _ := uri.(string)
	_, name, _ := strings.Cut(strings.TrimSuffix(text, "#"), "://")
	switch name {
	case "json-schema.org/draft/2020-12/schema", "json-schema.org/draft/2019-09/schema":
		return false, nil
	case "json-schema.org/draft-07/schema", "json-schema.org/draft-06/schema":
		return true, nil
	}
	return false, fmt.Errorf("schemas of %v are not supported", uri)
}

// A compiler walks the schemas in a schema.
type compiler struct {
	*Schema
	places  map[string]any // schemas by JSON pointer
	paths   int            // bytes of these
	program int            // instructions of the patterns
}

// schema checks the schema at a JSON pointer, so that Schema.Check can rely on its form.
func (c *compiler) schema(at string, v any, nesting int) error {
	c.places[at] = v
	if c.paths += len(at); c.paths > maxPaths || nesting > maxNesting {
		return errors.New("the schema is too large or too deep")
	}
	switch v := v.(type) {
	case bool:
		return nil
	case object:
		for key, value := range v {
			if err := c.keyword(at, key, value, nesting+1); err != nil {
				return err
			}
		}
		return nil
	}
	return wrong(at, "a schema is an object, true or false")
}

func wrong(at, what string) error { return fmt.Errorf("at %q: %s", at, what) }

// keyword checks a keyword of the schema at a JSON pointer. Unknown ones are ignored.
func (c *compiler) keyword(of, key string, v any, nesting int) error {
	at := of + "/" + escape(key)
	ok := true
	switch key {
	case "items", "additionalItems", "not", "if", "then", "else", "additionalProperties", "contains", "propertyNames":
		if list, is := v.([]any); is && key == "items" && c.draft7 {
			return c.schemas(at, list, nesting)
		}
		return c.schema(at, v, nesting)
	case "allOf", "anyOf", "oneOf", "prefixItems":
		list, _ := v.([]any)
		if ok = len(list) > 0; ok {
			return c.schemas(at, list, nesting)
		}
	case "properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions":
		var named object
		if named, ok = v.(object); ok {
			return c.named(at, key, named, nesting)
		}
	case "dependentRequired":
		named, is := v.(object)
		ok = is
		for _, one := range named {
			ok = ok && isStrings(one)
		}
	case "required":
		ok = isStrings(v)
	case "type":
		list, is := v.([]any)
		if !is {
			list = []any{v}
		}
		ok = len(list) > 0 && !slices.ContainsFunc(list, func(one any) bool { return !slices.Contains(types, one) })
	case "enum":
		list, _ := v.([]any)
		ok = len(list) > 0
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		n := rational(v)
		ok = n != nil && (key != "multipleOf" || n.Sign() > 0)
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains":
		n := rational(v)
		ok = n != nil && n.IsInt() && n.Sign() >= 0 && n.Num().IsInt64()
	case "uniqueItems":
		_, ok = v.(bool)
	case "pattern":
		var text string
		if text, ok = v.(string); ok {
			return c.pattern(text)
		}
	case "$ref":
		var ref string
		if ref, ok = v.(string); ok {
			c.refs[ref] = nil
		}
	case "$schema":
		draft7, err := isDraft7(v)
		ok = err == nil && draft7 == c.draft7
	case "$id":
		ok = of == ""
	case "$dynamicRef", "$recursiveRef", "unevaluatedItems", "unevaluatedProperties":
		ok = false
	}
	if !ok {
		return wrong(at, "this is not valid or not supported")
	}
	return nil
}

var types = []any{"null", "boolean", "object", "array", "number", "integer", "string"}

func (c *compiler) schemas(at string, all []any, nesting int) error {
	for i, one := range all {
		if err := c.schema(at+"/"+strconv.Itoa(i), one, nesting); err != nil {
			return err
		}
	}
	return nil
}

func (c *compiler) named(at, key string, all object, nesting int) error {
	for name, one := range all {
		if key == "patternProperties" {
			if err := c.pattern(name); err != nil {
				return err
			}
		}
		if key == "dependencies" && isStrings(one) {
			continue
		}
		if err := c.schema(at+"/"+escape(name), one, nesting); err != nil {
			return err
		}
	}
	return nil
}

// pattern compiles a regular expression.
func (c *compiler) pattern(text string) error {
	if c.patterns[text] != nil {
		return nil
	}
	if len(text) > maxPattern {
		return errors.New("a regular expression is too long")
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return err
	}
	if c.program += len(program.Inst); c.program > maxProgram {
		return errors.New("the regular expressions are too large")
	}
	compiled, err := regexp.Compile(text)
	c.patterns[text] = &pattern{compiled, len(program.Inst)}
	return err
}

func isStrings(v any) bool {
	list, ok := v.([]any)
	return ok && !slices.ContainsFunc(list, func(one any) bool { _, is := one.(string); return !is })
}

// rational returns an exact number; nil if v is none, or an extreme one that would need much memory.
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
