package provider

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func TestNames(t *testing.T) {
	long := strings.Repeat("x", 60)
	seen := map[string]string{}
	for _, tt := range []struct{ server, tool, want string }{
		{"fs", "read_file", "mcp__fs__read_file"},
		{"a", "b__c", "mcp__a__b__c"},
		{"a__b", "c", ""},
		{"a_", "b", ""},
		{"a", "_b", ""},
		{"my.server", "do it", ""},
		{"fs", long, ""},
		{"fs", long + "y", ""},
		{"fs", "é", ""},
		{"fs", "ü", ""},
	} {
		got := Name(tt.server, tt.tool)
		if !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`).MatchString(got) {
			t.Errorf("%s.%s is called %s, which is no name", tt.server, tt.tool, got)
		}
		if other := seen[got]; other != "" {
			t.Errorf("%s.%s and %s are both called %s", tt.server, tt.tool, other, got)
		}
		seen[got] = tt.server + "." + tt.tool
		if tt.want != "" && got != tt.want {
			t.Errorf("%s.%s: got %s, want %s", tt.server, tt.tool, got, tt.want)
		}
	}
}

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

// What Gemini takes, as a schema of schemas.
const geminiSchema = `{"$defs":{"s":{"type":"object","additionalProperties":false,"properties":{
"type":{"enum":["STRING","NUMBER","INTEGER","BOOLEAN","ARRAY","OBJECT"]},"format":{"enum":["enum","date-time","float","double","int32","int64"]},"title":{"type":"string"},"description":{"type":"string"},"nullable":{"type":"boolean"},
"enum":{"type":"array","items":{"type":"string","minLength":1},"minItems":1},"items":{"$ref":"#/$defs/s"},"properties":{"type":"object","propertyNames":{"pattern":"^[A-Za-z_][A-Za-z0-9_]{0,63}$"},"additionalProperties":{"$ref":"#/$defs/s"}},
"required":{"type":"array","items":{"type":"string"}},"anyOf":{"type":"array","minItems":1,"items":{"$ref":"#/$defs/s"}},"pattern":{"type":"string"},
"minItems":{},"maxItems":{},"minProperties":{},"maxProperties":{},"minimum":{},"maximum":{},"minLength":{},"maxLength":{}},
"anyOf":[{"required":["type"]},{"required":["anyOf"]}],"if":{"properties":{"type":{"const":"ARRAY"}},"required":["type"]},"then":{"required":["items"]}}},
"type":"array","items":{"type":"object","additionalProperties":false,"properties":{"functionDeclarations":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["name"],
"properties":{"name":{"type":"string"},"description":{"type":"string"},"parameters":{"$ref":"#/$defs/s"}}}}}}}`

// What OpenAI, xAI and Anthropic take at the root of parameters.
const rootSchema = `{"type":"object","required":["type","properties"],"properties":{"type":{"const":"object"},"properties":{"type":"object"},"oneOf":false,"anyOf":false,"allOf":false,"enum":false,"not":false}}`

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

var schemasOfServers = []string{odd, `{"type":"object"}`, `{}`, `{"type":"object","properties":{}}`, `{"anyOf":[{"properties":{"a":{"type":"string"}}},{"$ref":"#/$defs/x"}],"$defs":{"x":{"properties":{"b":{}}}}}`,
	`{"$ref":"#"}`, `{"properties":{"a":{"$ref":"#/properties/b"},"b":{"$ref":"#/properties/a"}}}`, `{"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}`}

func TestToolsAreAsProvidersTakeThem(t *testing.T) {
	ofGemini, ofRoot := compiled(t, geminiSchema), compiled(t, rootSchema)
	for i, schema := range schemasOfServers {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			if text := tools(t, Gemini, schema); valid(ofGemini, text) != nil {
				t.Errorf("Gemini: %v: %.2000s", valid(ofGemini, text), text)
			}
			var all []struct {
				InputSchema json.RawMessage `json:"input_schema"`
				Parameters  json.RawMessage
				Function    struct{ Parameters json.RawMessage }
			}
			for _, f := range []Format{OpenAI, XAI, Anthropic, Responses} {
				text := tools(t, f, schema)
				all = nil
				if err := json.Unmarshal([]byte(text), &all); err != nil {
					t.Fatal(err)
				}
				root := string(all[0].InputSchema) + string(all[0].Parameters) + string(all[0].Function.Parameters)
				if err := valid(ofRoot, root); err != nil {
					t.Errorf("%s: %v: %s", f, err, root)
				}
			}
		})
	}
}

func TestWhatBecomesOfAnOddSchema(t *testing.T) {
	text := tools(t, Gemini, odd)
	for _, want := range []string{`"kind":{"enum":["k"],"type":"STRING"}`, `"n":{"description":"One of [1,2]","type":"STRING"}`, `"maybe":{"nullable":true,"pattern":"^a","type":"STRING"}`,
		`"either":{"anyOf":[{"type":"STRING"},{"type":"INTEGER"}],"nullable":true}`, `"two":{"anyOf":[{"type":"STRING"},{"type":"INTEGER"}]}`,
		`"joined":{"properties":{"x":{"type":"STRING"},"y":{"type":"NUMBER"}},"required":["x"],"type":"OBJECT"}`, `"a":{"type":"INTEGER"}`} {
		if !strings.Contains(text, want) {
			t.Errorf("Gemini's has no %s: %.3000s", want, text)
		}
	}
	if strings.Contains(text, "$bad") || !strings.Contains(tools(t, OpenAI, odd), "$bad") || strings.Contains(tools(t, Anthropic, odd), "$bad") {
		t.Error("properties whose names a provider refuses are left out there, and only there")
	}
	if text := tools(t, OpenAI, odd); len(text) == 0 || strings.Contains(text, strings.Repeat("é", 600)) || !strings.Contains(tools(t, XAI, odd), strings.Repeat("é", 1000)) {
		t.Error("descriptions are cut for OpenAI, and only there")
	}
	if text := tools(t, Gemini, `{"type":"object"}`); strings.Contains(text, "parameters") {
		t.Errorf("no parameters are none: %s", text)
	}
}

func TestSlimChangesNothingAboutWhatIsValid(t *testing.T) {
	arguments := []string{`{}`, `{"kind":"k","a":1,"$bad":""}`, `{"kind":"x","a":1,"$bad":""}`, `{"kind":"k","a":1,"$bad":"","n":3}`, `{"kind":"k","a":1,"$bad":"","more":1}`,
		`{"kind":"k","a":1,"$bad":"","tree":{"children":[{"children":[]}]}}`, `{"kind":"k","a":1,"$bad":"","tree":{"children":[1]}}`, `{"title":1}`, `[]`, `{"a":{"a":{}}}`, `{"a":"x"}`}
	tuple := `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"items":[{"type":"string"}],"additionalItems":false}}}`
	for i, schema := range append(schemasOfServers[:5:5], tuple) {
		slim := tool(schema).Slim()
		before, after := compiled(t, schema), compiled(t, string(slim.Schema))
		for _, text := range arguments {
			if (valid(before, text) == nil) != (valid(after, text) == nil) {
				t.Errorf("schema %d takes %s differently when it is slim: %s", i, text, slim.Schema)
			}
		}
		if len(slim.Schema) > len(schema) {
			t.Errorf("schema %d has grown to %s", i, slim.Schema)
		}
	}
	slim := string(tool(odd).Slim().Schema)
	if !strings.Contains(slim, `"title":{"format":"uri","type":"string"}`) || strings.Contains(slim, "examples") {
		t.Errorf("slim is %s", slim)
	}
}

func TestCallsAndTheirResults(t *testing.T) {
	const text = `{"content":[{"type":"text","text":"one"},{"type":"image","data":"AAAA","mimeType":"image/png"}],"structuredContent":{"n":1}}`
	const failed = `{"content":[{"type":"text","text":"no"}],"isError":true}`
	for _, tt := range []struct {
		f                        Format
		call, of, result, wanted string
	}{
		{OpenAI, `{"id":"c","type":"function","function":{"name":"t","arguments":"{\"a\": 1}"}}`, `{"a": 1}`, text, `{"role":"tool","tool_call_id":"c","content":"one\n[image image/png, 4 bytes of base64]"}`},
		{OpenAI, `{"type":"function_call","call_id":"c","id":"fc","name":"t","arguments":""}`, `{}`, failed, `{"type":"function_call_output","call_id":"c","output":"Error: no"}`},
		{XAI, `{"id":"c","type":"function","function":{"name":"t","arguments":"{}"}}`, `{}`, `{"content":[],"structuredContent":{"n":1}}`, `{"role":"tool","tool_call_id":"c","content":"{\"n\":1}"}`},
		{Anthropic, `{"type":"tool_use","id":"c","name":"t","input":{"a":1}}`, `{"a":1}`, text, `{"type":"tool_result","tool_use_id":"c","content":[{"text":"one","type":"text"},{"source":{"data":"AAAA","media_type":"image/png","type":"base64"},"type":"image"}],"is_error":false}`},
		{Gemini, `{"functionCall":{"name":"t","args":{"a":1}}}`, `{"a":1}`, text, `{"functionResponse":{"name":"t","response":{"output":{"n":1}}}}`},
		{Gemini, `{"id":"c","name":"t","args":{"a":1}}`, `{"a":1}`, failed, `{"functionResponse":{"id":"c","name":"t","response":{"error":"no"}}}`},
		{MCP, `{"name":"t","arguments":{"a":1}}`, `{"a":1}`, text, text},
	} {
		c, err := ParseCall(tt.f, json.RawMessage(tt.call))
		if err != nil || c.Name != "t" || string(c.Arguments) != tt.of {
			t.Errorf("%s: %v: %+v", tt.call, err, c)
			continue
		}
		if got, err := c.Result(json.RawMessage(tt.result)); err != nil || string(got) != tt.wanted {
			t.Errorf("%s: %v: got\n%s, want\n%s", tt.call, err, got, tt.wanted)
		}
	}
	for _, bad := range []struct {
		f    Format
		call string
	}{
		{OpenAI, `{"type":"function","function":{"name":"t"}}`}, {OpenAI, `{"id":"c","function":{"name":"t","arguments":"{"}}`}, {Anthropic, `{"id":"c","name":"t","input":[]}`},
		{Gemini, `{"args":{}}`}, {MCP, `[]`},
	} {
		if c, err := ParseCall(bad.f, json.RawMessage(bad.call)); err == nil {
			t.Errorf("%s is taken as %+v", bad.call, c)
		}
	}
}

func TestACallThatCannotBeReadIsNamedInWordsOfJSON(t *testing.T) {
	for call, want := range map[string]string{
		`[]`:                      "a tool call of openai cannot be read: it has to be a JSON object",
		`{"id":"c","function":3}`: "a tool call of openai cannot be read: function cannot be a JSON number",
		`{"id":"c","type":"function","function":{"name":["t"]}}`: "a tool call of openai cannot be read: function.name cannot be a JSON array",
	} {
		if _, err := ParseCall(OpenAI, json.RawMessage(call)); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", call, err, want)
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
			if text, err := Tools(format, []Tool{one, one.Slim()}); err != nil || !json.Valid(text) {
				t.Errorf("%s: %v: %s", format, err, text)
			}
		}
	})
}
