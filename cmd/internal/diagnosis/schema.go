package diagnosis

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Bounds of schemas. OpenAI documents 5,000 properties and 10 levels of nesting for strict schemas.
// Beyond deepest, models and clients give up.
const (
	mostProperties = 5000
	deepest        = 16
	mostNodes      = 50_000 // that are looked at
)

// propertyKey matches the names of properties that Anthropic takes.
var propertyKey = lazy(`^[a-zA-Z0-9_.-]{1,64}$`)

// A checker collects what model providers object to in one schema. Clients pass schemas on as they
// are, and a provider that refuses one tool refuses the whole request.
type checker struct {
	root       map[string]any
	properties int
	nodes      int
	found      []string
}

// Objections returns what model providers are known to refuse in the input schema of a tool.
func Objections(tool []byte) []string {
	var t struct {
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	if json.Unmarshal(tool, &t) != nil {
		return nil
	}
	c := &checker{}
	if json.Unmarshal(t.InputSchema, &c.root) != nil || c.root == nil {
		return []string{"the schema is no object, which every provider refuses"}
	}
	if c.root["type"] != "object" {
		c.object("the schema has no \"type\": \"object\" at its top, which every provider refuses")
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf", "enum", "const", "not"} {
		if c.root[key] != nil {
			c.object(fmt.Sprintf("the schema has %s at its top, which OpenAI and Anthropic refuse", key))
			break
		}
	}
	c.visit(c.root, 0)
	if c.properties > mostProperties {
		c.object(fmt.Sprintf("the schema has more than %d properties, which OpenAI refuses", mostProperties))
	}
	return c.found
}

func (c *checker) object(why string) {
	if !slices.Contains(c.found, why) {
		c.found = append(c.found, why)
	}
}

// visit looks at a schema and those in it.
func (c *checker) visit(s map[string]any, depth int) {
	if c.nodes++; c.nodes > mostNodes {
		return
	}
	if depth > deepest {
		c.object(fmt.Sprintf("the schema is nested more than %d levels deep, which OpenAI and Gemini refuse", deepest))
		return
	}
	c.reference(s)
	c.typed(s)
	for _, key := range []string{"exclusiveMinimum", "exclusiveMaximum"} {
		if _, draft4 := s[key].(bool); draft4 {
			c.object(key + " is true or false, as in an old draft of JSON Schema, which Anthropic and OpenAI refuse")
		}
	}
	if _, tuple := s["items"].([]any); tuple {
		c.object("items is a list, as in an old draft of JSON Schema, which Anthropic, Gemini and xAI refuse")
	}
	for _, key := range []string{"properties", "patternProperties", "$defs", "definitions"} {
		all, _ := s[key].(map[string]any)
		for name, one := range all {
			if key == "properties" {
				c.properties++
				if !propertyKey().MatchString(name) {
					c.object("the name of a property has other characters than A-Z a-z 0-9 _ . -, or more than 64, which Anthropic refuses")
				}
			}
			c.below(one, depth)
		}
	}
	for _, key := range []string{"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"} {
		c.below(s[key], depth)
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf", "prefixItems"} {
		all, _ := s[key].([]any)
		for _, one := range all {
			c.below(one, depth)
		}
	}
}

func (c *checker) below(v any, depth int) {
	if s, ok := v.(map[string]any); ok {
		c.visit(s, depth+1)
	}
}

// reference checks a $ref.
func (c *checker) reference(s map[string]any) {
	ref, ok := s["$ref"].(string)
	switch {
	case !ok:
	case !strings.HasPrefix(ref, "#"):
		c.object("a $ref leads out of the schema, which every provider refuses")
	case !c.leads(ref):
		c.object("a $ref leads to nothing, which every provider refuses")
	}
}

// leads reports whether a reference within the schema leads to something. It accepts anchors.
func (c *checker) leads(ref string) bool {
	var at any = c.root
	rest, isPath := strings.CutPrefix(ref, "#/")
	if !isPath {
		return true
	}
	for part := range strings.SplitSeq(rest, "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~", "%24", "$").Replace(part)
		switch v := at.(type) {
		case map[string]any:
			at = v[part]
		case []any:
			return true
		}
		if at == nil {
			return false
		}
	}
	return true
}

// geminiFormats are those of strings that Gemini takes.
var geminiFormats = []string{"enum", "date-time"}

// typed checks what depends on the type of a schema.
func (c *checker) typed(s map[string]any) {
	switch types := s["type"].(type) {
	case nil:
	case string:
		if !slices.Contains([]string{"string", "number", "integer", "boolean", "object", "array", "null"}, types) {
			c.object("the schema has a type that JSON Schema does not have, which every provider refuses")
		}
		if types == "array" && s["items"] == nil {
			c.object("an array has no items, which OpenAI and Gemini refuse")
		}
		if format, ok := s["format"].(string); ok && types == "string" && !slices.Contains(geminiFormats, format) {
			c.object("a string has another format than date-time, which Gemini refuses")
		}
	case []any:
		if len(types) == 0 {
			c.object("the schema has an empty list of types, which every provider refuses")
		}
	default:
		c.object("the schema has a type that JSON Schema does not have, which every provider refuses")
	}
}
