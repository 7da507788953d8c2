package provider

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// odd is a schema with all that providers refuse.
const odd = `{"$schema":"http://json-schema.org/draft-07/schema#","title":"T","type":["object","null"],"required":["kind","$bad","a"],
"properties":{"title":{"type":"string","title":"a title","examples":["x"],"format":"uri"},"kind":{"const":"k"},"n":{"enum":[1,2]},"$bad":{"type":"string"},
"list":{"type":"array"},"either":{"oneOf":[{"type":"string"},{"type":"null"},{"type":"integer","exclusiveMinimum":0}]},
"two":{"type":["string","integer"]},"maybe":{"type":["string","null"],"pattern":"^a"},"tree":{"$ref":"#/definitions/tree"},
"joined":{"allOf":[{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]},{"properties":{"y":{"type":"number"}}}]},"free":true,"map":{"type":"object","additionalProperties":{"type":"string"}}},
"definitions":{"tree":{"type":"object","properties":{"children":{"type":"array","items":{"$ref":"#/definitions/tree"}}}}},
"allOf":[{"properties":{"a":{"type":"integer"}},"required":["a"]}],"additionalProperties":false}`

func tool(schema string) Tool {
	return Tool{Name: "mcp__s__t", Description: strings.Repeat("é", 1000), Schema: json.RawMessage(schema), Raw: json.RawMessage(`{"name":"mcp__s__t","inputSchema":` + schema + `}`)}
}

func tools(t *testing.T, f Format, schema string) string {
	t.Helper()
	text, err := Tools(f, []Tool{tool(schema)})
	if err != nil {
		t.Fatalf("%s: %v", f, err)
	}
	return string(text)
}

// parameters is the schema of the arguments that a provider is given, nil if that is none.
func parameters(t *testing.T, f Format, from string) schema {
	t.Helper()
	var all []struct {
		InputSchema          schema `json:"input_schema"`
		Parameters           schema
		Function             struct{ Parameters schema }
		FunctionDeclarations []struct{ Parameters schema }
	}
	dec := json.NewDecoder(strings.NewReader(tools(t, f, from)))
	dec.UseNumber()
	if err := dec.Decode(&all); err != nil {
		t.Fatal(err)
	}
	switch f {
	case Anthropic:
		return all[0].InputSchema
	case Gemini:
		return all[0].FunctionDeclarations[0].Parameters
	case Responses:
		return all[0].Parameters
	}
	return all[0].Function.Parameters
}

func compiled(t *testing.T, text string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("toolman:///x.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("toolman:///x.json")
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return s
}

func valid(s *jsonschema.Schema, text string) error {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return err
	}
	return s.Validate(value)
}

// schemasOfServers are such as servers write, and worse.
var schemasOfServers = []string{odd, `{"type":"object"}`, `{}`, `{"type":"object","properties":{}}`, `{"anyOf":[{"properties":{"a":{"type":"string"}}},{"$ref":"#/$defs/x"}],"$defs":{"x":{"properties":{"b":{}}}}}`,
	`{"$ref":"#"}`, `{"properties":{"a":{"$ref":"#/properties/b"},"b":{"$ref":"#/properties/a"}}}`, `{"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}`,
	// a reference at the root, as zod-to-json-schema writes it for what has a name
	`{"$ref":"#/definitions/T","definitions":{"T":{"type":"object","properties":{"a":{"$ref":"#/definitions/U"}},"required":["a"]},"U":{"type":"string"}}}`,
	// references to what does not stay at the root
	`{"type":"object","anyOf":[{"properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}}}},{"properties":{"c":{"$ref":"#/anyOf/0/properties/a"}}}]}`,
	// several types, one of them with keywords of its own
	`{"type":"object","properties":{"languages":{"items":{"type":"string"},"type":["array","null"]},"o":{"type":["object","string"],"properties":{"x":{"type":"string"}},"required":["x"],"minLength":1}}}`,
	// tuples, and required without properties
	`{"type":"object","properties":{"range":{"type":"array","items":[{"type":"integer"},{"type":"integer"}],"additionalItems":false},"pair":{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}]},"free":{"type":"object","required":["type"]}}}`,
	// draft 4
	`{"$schema":"http://json-schema.org/draft-04/schema#","id":"x","type":"object","properties":{"n":{"type":"integer","minimum":0,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":false},"kind":{"enum":["a",null],"type":["string","null"]}}}`,
	// mistakes
	`{"type":"object","properties":{"a":"string","b":{"type":"int","required":true,"enum":"x","minLength":-1,"pattern":5,"anyOf":[]},"c":{"type":"string","properties":{"x":{}},"items":true}},"required":"a","additionalProperties":null,"description":7}`,
	`{"properties":[],"required":["a","a",1]}`,
	`{"type":"object","properties":{"a":{"description":"either","default":null,"anyOf":[{"type":"string","description":"a text"},{"type":"number"},{"type":"null"}]},"nothing":{"type":"null"},"one":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`,
	`{"type":"object","properties":{"a":{"type":"object","required":["b"],"anyOf":[{"properties":{"b":{}}},{"properties":{"c":{"anyOf":[{"anyOf":[{"type":"string"},{"type":"integer"}]},true]}}}]}}}`,
	`{"allOf":[{"$ref":"#"},{"$ref":"#"}],"properties":{"gone":{"$ref":"https://example.com/schema"}}}`,
	`{"properties":{"a":{"$ref":"#"},"b":{"$ref":"#"},"c":{"$ref":"#"},"d":{"$ref":"#/properties/a"}}}`,
	// one of several kinds, each with properties of its own, and a part that all have
	`{"oneOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/B"},{"allOf":[{"$ref":"#/$defs/B"}],"properties":{"kind":{"const":"c"}}}],"$defs":{"A":{"type":"object","properties":{"kind":{"const":"a"},"x":{"type":"integer"}},"required":["kind"]},"B":{"type":"object","properties":{"kind":{"enum":["b","c"]},"x":{"type":"string"},"y":{"type":"array"}},"required":["kind","y"]}}}`,
	`{"type":"object","properties":{"d":{"type":"number","multipleOf":0,"minimum":"1","exclusiveMaximum":1e999},"e":{"uniqueItems":"yes","examples":1,"dependentRequired":{"a":"b"},"patternProperties":{"x":1},"not":3,"additionalProperties":[]},"f":{"minimum":1,"maximum":2.5},"g":{"format":5,"allOf":[1]},"h":{"type":"array","items":[true],"minItems":1.5}},"$schema":1,"$defs":[]}`,
}

// rootSchema is what OpenAI, xAI and Anthropic take at the root of parameters.
const rootSchema = `{"type":"object","required":["type","properties"],"properties":{"type":{"const":"object"},"properties":{"type":"object"},"$ref":false,"oneOf":false,"anyOf":false,"allOf":false,"enum":false,"const":false,"not":false}}`

// metaSchema is what all schemas of 2020-12 are.
const metaSchema = `{"$ref":"https://json-schema.org/draft/2020-12/schema"}`

// wrong says what OpenAI, xAI or Anthropic would refuse in a schema of parameters.
func wrong(t *testing.T, s schema) (problems []string) {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, rules := range []string{rootSchema, metaSchema} {
		if err := valid(compiled(t, rules), string(text)); err != nil {
			problems = append(problems, err.Error())
		}
	}
	walk(s, "", func(sub schema, path string) {
		if _, ok := sub["items"].(schema); !ok && hasType(sub, "array") {
			problems = append(problems, path+": an array without items")
		}
		if ref, ok := sub["$ref"].(string); ok && at(s, ref) == nil {
			problems = append(problems, path+": "+ref+" leads nowhere")
		}
	})
	return problems
}

func walk(s schema, path string, f func(schema, string)) {
	f(s, path)
	n := 0
	each(s, func(sub schema) schema {
		n++
		walk(sub, fmt.Sprintf("%s/%d", path, n), f)
		return sub
	})
}

// geminiOf are the keywords that Gemini takes with each type, and with no type.
var geminiOf = map[string][]string{"": {"anyOf"}, "STRING": {"enum", "pattern", "minLength", "maxLength", "format"}, "NUMBER": {"minimum", "maximum", "format"}, "INTEGER": {"minimum", "maximum", "format"},
	"BOOLEAN": nil, "ARRAY": {"items", "minItems", "maxItems"}, "OBJECT": {"properties", "required", "minProperties", "maxProperties"}}

// wrongForGemini says what Gemini would refuse in a schema of parameters.
func wrongForGemini(s schema) (problems []string) {
	walk(s, "", func(s schema, path string) {
		name, _ := s["type"].(string)
		keys, ok := geminiOf[name]
		if !ok {
			problems = append(problems, path+": type "+name)
		}
		for key := range s {
			general := name != "" && slices.Contains([]string{"type", "description", "title", "nullable"}, key)
			if !general && !slices.Contains(keys, key) {
				problems = append(problems, path+": "+key+" with type "+name)
			}
		}
		if all, _ := s["anyOf"].([]any); name == "" && len(all) < 2 {
			problems = append(problems, path+": neither type nor alternatives")
		}
		if _, ok := s["items"].(schema); name == "ARRAY" && !ok {
			problems = append(problems, path+": an array without items")
		}
		properties, _ := s["properties"].(schema)
		for property := range properties {
			if !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`).MatchString(property) {
				problems = append(problems, path+": a property "+property)
			}
		}
		required, _ := s["required"].([]any)
		for _, property := range required {
			if properties[property.(string)] == nil {
				problems = append(problems, fmt.Sprintf("%s: %s is required and is no property", path, property))
			}
		}
		enum, _ := s["enum"].([]any)
		for _, value := range enum {
			if text, ok := value.(string); !ok || text == "" {
				problems = append(problems, fmt.Sprintf("%s: %v in an enum", path, value))
			}
		}
		if format := s["format"]; format != nil && !slices.Contains([]any{"enum", "date-time", "float", "double", "int32", "int64"}, format) {
			problems = append(problems, fmt.Sprintf("%s: format %s", path, format))
		}
	})
	return problems
}

func TestSchemasAreAsProvidersTakeThem(t *testing.T) {
	for i, from := range schemasOfServers {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			checkSchema(t, from)
		})
	}
}

func checkSchema(t *testing.T, from string) {
	t.Helper()
	if s := parameters(t, Gemini, from); s != nil {
		if problems := wrongForGemini(s); problems != nil {
			t.Errorf("Gemini: %q: %.2000v", problems, s)
		}
	}
	for _, f := range []Format{OpenAI, XAI, Anthropic, Responses} {
		s := parameters(t, f, from)
		if problems := wrong(t, s); problems != nil {
			t.Errorf("%s: %q: %.2000v", f, problems, s)
		}
		properties, _ := s["properties"].(schema)
		for name := range properties {
			if f == Anthropic && !regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`).MatchString(name) {
				t.Errorf("Anthropic: a property %q", name)
			}
		}
	}
}

// Arguments that a server takes are such as a model may give.
func TestSchemasAreNeverTightened(t *testing.T) {
	for i, arguments := range map[int][]string{
		4:  {`{}`, `{"a":"x"}`, `{"b":[1]}`},
		8:  {`{"a":"x"}`},
		9:  {`{"a":{"b":"x"}}`, `{"c":{"b":"x"}}`},
		10: {`{"languages":null,"o":"text"}`, `{"languages":["x"],"o":{"x":""}}`},
		12: {`{"n":1,"kind":null}`, `{"n":9,"kind":"a"}`},
		15: {`{"a":1.5,"nothing":null,"one":null}`, `{"a":null,"one":"x"}`},
		16: {`{"a":{"b":1}}`, `{"a":{"b":1,"c":2}}`},
		19: {`{"kind":"a","x":1}`, `{"kind":"b","x":"text","y":[]}`},
	} {
		from := schemasOfServers[i]
		server := compiled(t, from)
		text, err := json.Marshal(parameters(t, OpenAI, from))
		if err != nil {
			t.Fatal(err)
		}
		model := compiled(t, string(text))
		for _, one := range arguments {
			if err := valid(server, one); err != nil {
				t.Errorf("schema %d: %v", i, err)
			}
			if err := valid(model, one); err != nil {
				t.Errorf("schema %d takes %s, and a model may not: %s: %v", i, one, text, err)
			}
		}
	}
}

func TestWhatBecomesOfAnOddSchema(t *testing.T) {
	text := tools(t, Gemini, odd)
	for _, want := range []string{`"kind":{"enum":["k"],"type":"STRING"}`, `"n":{"description":"One of [1,2]","type":"STRING"}`, `"maybe":{"nullable":true,"pattern":"^a","type":"STRING"}`,
		`"either":{"anyOf":[{"nullable":true,"type":"STRING"},{"minimum":0,"nullable":true,"type":"INTEGER"}]}`, `"two":{"anyOf":[{"type":"STRING"},{"type":"INTEGER"}]}`,
		`"joined":{"properties":{"x":{"type":"STRING"},"y":{"type":"NUMBER"}},"required":["x"],"type":"OBJECT"}`, `"a":{"type":"INTEGER"}`} {
		if !strings.Contains(text, want) {
			t.Errorf("Gemini's has no %s: %.3000s", want, text)
		}
	}
	if strings.Contains(text, "$bad") || !strings.Contains(tools(t, OpenAI, odd), "$bad") || strings.Contains(tools(t, Anthropic, odd), "$bad") {
		t.Error("properties whose names a provider refuses have others there, and only there")
	}
	if text := tools(t, OpenAI, odd); len(text) == 0 || strings.Contains(text, strings.Repeat("é", 600)) || !strings.Contains(tools(t, XAI, odd), strings.Repeat("é", 1000)) {
		t.Error("descriptions are cut for OpenAI, and only there")
	}
	if text := tools(t, Gemini, `{"type":"object"}`); strings.Contains(text, "parameters") {
		t.Errorf("no parameters are none: %s", text)
	}
}

// What is lost on the way is only what cannot be said.
func TestWhatModelsStillLearn(t *testing.T) {
	for _, tt := range []struct{ name, from, openai, gemini string }{
		{"a reference at the root is followed", schemasOfServers[8], `{"a":{"$ref":"#/definitions/U"}}`, `{"a":{"type":"STRING"}}`},
		{"alternatives at the root are joined, references in them too", schemasOfServers[4], `{"a":{"type":"string"},"b":{}}`, `{"a":{"type":"STRING"},"b":{"type":"STRING"}}`},
		{"a reference to what was at the root is what it led to", schemasOfServers[9], `"c":{"properties":{"b":{"type":"string"}},"type":"object"}`, `"c":{"properties":{"b":{"type":"STRING"}},"type":"OBJECT"}`},
		{"keywords stay with the type that they are about", schemasOfServers[10], `"o":{"minLength":1,`, `"o":{"anyOf":[{"properties":{"x":{"type":"STRING"}},"required":["x"],"type":"OBJECT"},{"minLength":1,"type":"STRING"}]}`},
		{"a list or null", schemasOfServers[10], `"type":["array","null"]`, `"languages":{"items":{"type":"STRING"},"nullable":true,"type":"ARRAY"}`},
		{"a tuple of the same", schemasOfServers[11], `"range":{"items":{},"prefixItems":[{"type":"integer"},{"type":"integer"}],"type":"array"}`, `"range":{"items":{"type":"INTEGER"},"type":"ARRAY"}`},
		{"a tuple", schemasOfServers[11], `"pair":{"items":{},"prefixItems":[{"type":"string"},{"type":"integer"}],"type":"array"}`, `"pair":{"items":{"anyOf":[{"type":"STRING"},{"type":"INTEGER"}]},"type":"ARRAY"}`},
		{"bounds of draft 4", schemasOfServers[12], `"n":{"exclusiveMinimum":0,"maximum":9,"type":"integer"}`, `"n":{"maximum":9,"minimum":0,"type":"INTEGER"}`},
		{"null among the values", schemasOfServers[12], `"enum":["a",null]`, `"kind":{"enum":["a"],"nullable":true,"type":"STRING"}`},
		{"what is said of alternatives", schemasOfServers[15], `"description":"either"`, `"a":{"anyOf":[{"description":"either a text","nullable":true,"type":"STRING"},{"nullable":true,"type":"NUMBER"}]}`},
		{"one thing or null", schemasOfServers[15], `"anyOf":[{"type":"string"},{"type":"null"}]`, `"one":{"nullable":true,"type":"STRING"}`},
		{"one of several kinds", schemasOfServers[19], `"properties":{"kind":{"anyOf":[{"enum":["a","b","c"]},{"allOf":[{"const":"c"},{"enum":["b","c"]}]}]},"x":{"anyOf":[{"type":"integer"},{"type":"string"}]},`, `"properties":{"kind":{"anyOf":[{"enum":["a","b","c"],"type":"STRING"},{"enum":["c"],"type":"STRING"}]},"x":{"anyOf":[{"type":"INTEGER"},{"type":"STRING"}]},`},
		{"what is right beside mistakes", schemasOfServers[20], `"f":{"maximum":2.5,"minimum":1}`, `"f":{"maximum":2.5,"minimum":1,"type":"NUMBER"}`},
		{"an object with alternatives", schemasOfServers[16], `"required":["b"]`, `"a":{"properties":{"b":{"type":"STRING"},"c":{"anyOf":[{"type":"STRING"},{"type":"INTEGER"}]}},"required":["b"],"type":"OBJECT"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if text := tools(t, OpenAI, tt.from); !strings.Contains(text, tt.openai) {
				t.Errorf("OpenAI's has no %s: %.3000s", tt.openai, text[strings.Index(text, "parameters"):])
			}
			if text := tools(t, Gemini, tt.from); !strings.Contains(text, tt.gemini) {
				t.Errorf("Gemini's has no %s: %.3000s", tt.gemini, text[strings.Index(text, "parameters"):])
			}
		})
	}
}

func TestPropertiesThatAProviderRefusesHaveOtherNames(t *testing.T) {
	const from = `{"type":"object","properties":{"$top":{"type":"integer"},"top":{},"in":{"type":"array","items":{"$ref":"#/$defs/f"}},"a.b":{"type":"string"},"0":{"$ref":"#/properties/$top"}},"required":["$top","in"],
"$defs":{"f":{"type":"object","properties":{"filter[id]":{"type":"string"},"` + "`" + `":{}},"required":["filter[id]"]}}}`
	for _, tt := range []struct {
		f                        Format
		call, properties, wanted string
	}{
		{Anthropic, `{"id":"c","name":"t","input":{"_top_81bf98e4":1.50,"top":[],"in":[{"filter_id__665d001d":"x"}],"a.b":"y"}}`,
			`{"0":{"type":"integer"},"_top_81bf98e4":{"type":"integer"},"a.b":{"type":"string"},"in":{"items":{"$ref":"#/$defs/f"},"type":"array"},"top":{}}`,
			`{"$top":1.50,"a.b":"y","in":[{"filter[id]":"x"}],"top":[]}`},
		{Gemini, `{"name":"t","args":{"_top_81bf98e4":1.50,"top":[],"in":[{"filter_id__665d001d":"x"}],"a_b_2e7336dc":"y","_0_5feceb66":1}}`,
			`{"_0_5feceb66":{"type":"INTEGER"},"_top_81bf98e4":{"type":"INTEGER"},"a_b_2e7336dc":{"type":"STRING"},"in":{"items":{"properties":{"__8d33f520":{"type":"STRING"},"filter_id__665d001d":{"type":"STRING"}},"required":["filter_id__665d001d"],"type":"OBJECT"},"type":"ARRAY"},"top":{"type":"STRING"}}`,
			`{"$top":1.50,"0":1,"a.b":"y","in":[{"filter[id]":"x"}],"top":[]}`},
		{OpenAI, `{"id":"c","function":{"name":"t","arguments":"{\"$top\": 1}"}}`,
			`{"$top":{"type":"integer"},"0":{"$ref":"#/properties/$top"},"a.b":{"type":"string"},"in":{"items":{"$ref":"#/$defs/f"},"type":"array"},"top":{}}`, `{"$top":1}`},
		{Anthropic, `{"id":"c","name":"t","input":{"top": 1e999, "other": {}}}`, `"top":{}`, `{"top": 1e999, "other": {}}`},
	} {
		text, err := encode(parameters(t, tt.f, from)["properties"])
		if err != nil || !strings.Contains(string(text), tt.properties) {
			t.Errorf("%s: %v: %s", tt.f, err, text)
		}
		c, err := ParseCall(tt.f, json.RawMessage(tt.call))
		if err != nil {
			t.Fatal(err)
		}
		if c.Restore(json.RawMessage(from)); string(c.Arguments) != tt.wanted {
			t.Errorf("%s: the server is sent %s, want %s", tt.f, c.Arguments, tt.wanted)
		}
	}
}

func TestGrokGetsNoReferencesThatLeadBack(t *testing.T) {
	const plain = `{"type":"object","properties":{"a":{"$ref":"#/$defs/x"},"b":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"string"}}}`
	if text := tools(t, XAI, plain); !strings.Contains(text, `"a":{"$ref":"#/$defs/x"}`) {
		t.Errorf("references that end stay: %s", text)
	}
	const json = `{"type":"object","properties":{"args":{"$ref":"#/$defs/json"}},"$defs":{"json":{"anyOf":[{"type":"string"},{"type":"array","items":{"$ref":"#/$defs/json"}}]}}}`
	text := tools(t, XAI, json)
	if want := `"args":{"anyOf":[{"type":"string"},{"items":{"anyOf":[{"type":"string"},{"items":{},"type":"array"}]},"type":"array"}]}`; !strings.Contains(text, want) || strings.Contains(text, "$") {
		t.Errorf("got %.2000s, want %s", text, want)
	}
	if text := tools(t, OpenAI, json); !strings.Contains(text, `"args":{"$ref":"#/$defs/json"}`) {
		t.Errorf("others have them: %s", text)
	}
}

// A small schema can stand for one without end.
func TestOpeningASchemaEnds(t *testing.T) {
	many := schema{}
	for i := range 300 {
		many[fmt.Sprint("p", i)] = schema{"allOf": []any{schema{"$ref": "#"}, schema{"$ref": fmt.Sprintf("#/properties/p%d", 299-i)}}}
	}
	for name, s := range map[string]schema{"all of itself twice": {"allOf": []any{schema{"$ref": "#"}, schema{"$ref": "#"}}}, "each of the others": {"properties": many}} {
		o := &resolver{root: s}
		root, way := o.object()
		out := o.declared(maps.Clone(root), way, 0)
		if text, err := encode(out); err != nil || len(text) > 1<<20 {
			t.Errorf("%s: %d bytes: %v", name, len(text), err)
		}
		if o.nodes > 4*maxNodes {
			t.Errorf("%s: %d schemas were opened", name, o.nodes)
		}
	}
}

func FuzzTools(f *testing.F) {
	for _, schema := range schemasOfServers {
		f.Add([]byte(schema))
	}
	f.Fuzz(func(t *testing.T, schema []byte) {
		if len(schema) == 0 || schema[0] != '{' || !json.Valid(schema) {
			return
		}
		one := tool(string(schema))
		for _, format := range Formats() {
			if text, err := Tools(format, []Tool{one, one.Slim(Slim), one.Slim(Max)}); err != nil || !json.Valid(text) {
				t.Errorf("%s: %v: %s", format, err, text)
			}
		}
		checkSchema(t, string(schema))
	})
}
