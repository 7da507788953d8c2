package mcpwire

import (
	"encoding/json"
	"strings"
	"testing"

	"toolman/jsonrpc"
)

func tool(t testing.TB, raw string) *Item {
	t.Helper()
	it, err := parseItem(Tool, []byte(raw))
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return &it
}

func TestItemIsForTasksOnly(t *testing.T) {
	for members, want := range map[string]bool{
		``: false, `,"execution":{}`: false, `,"execution":{"taskSupport":"optional"}`: false, `,"execution":{"taskSupport":"required"}`: true,
		`,"execution":{"taskSupport":"forbidden"}`: false, `,"execution":"required"`: false, `,"taskSupport":"required"`: false,
	} {
		if _, got := tool(t, `{"name":"a"`+members+`}`).ToModern(nil); got != want {
			t.Errorf("%s: got %v", members, got)
		}
	}
}

func TestItemToModern(t *testing.T) {
	for _, tt := range []struct{ raw, want string }{
		{`{"name":"a","execution":{"taskSupport":"optional"}}`, `{"name":"ns_a"}`},
		{`{"execution":{}, "name":"a"}`, `{"name":"ns_a"}`},
		{`{"name":"a","outputSchema":{"type":"object"},"x":[ 1.0 ]}`, `{"name":"ns_a","outputSchema":{"type":"object"},"x":[ 1.0 ]}`},
	} {
		it := tool(t, tt.raw)
		edits, _ := it.ToModern([]jsonrpc.Edit{it.Rename("ns_a")})
		if got := string(it.AppendWith(nil, edits...)); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
	prompt := &Item{Kind: Prompt, Raw: []byte(`{"name":"a","execution":1}`)}
	if edits, tasksOnly := prompt.ToModern(nil); tasksOnly || len(edits) > 0 {
		t.Errorf("a prompt is taken for a tool: %v %v", edits, tasksOnly)
	}
}

func TestItemToLegacyWrapsSchemasOfOtherThanObjects(t *testing.T) {
	tests := []struct {
		name, schema, want string
		wrapped            bool
	}{
		{"an object", `{"type":"object","properties":{"a":{"$ref":"#/$defs/b"}}}`, `{"type":"object","properties":{"a":{"$ref":"#/$defs/b"}}}`, false},
		{"a list", `{"type":"array", "items":{}}`, `{"type":"array", "items":{}}`, true},
		{"no type", `{"anyOf":[{"type":"object"}]}`, `{"anyOf":[{"type":"object"}]}`, true},
		{"several types", `{"type":["object","null"]}`, `{"type":["object","null"]}`, true},
		{"anything", `{}`, `{}`, true},
		{"references", `{"items":{"$ref":"#/$defs/b"},"$defs":{"b":{"anyOf":[{"$ref":"#"},{"$dynamicRef":"#/x"}]}}}`,
			`{"items":{"$ref":"#/properties/result/$defs/b"},"$defs":{"b":{"anyOf":[{"$ref":"#/properties/result"},{"$dynamicRef":"#/properties/result/x"}]}}}`, true},
		{"references to elsewhere", `{"items":[{"$ref":"https://x/#/a"},{"$ref":"#anchor"},{"$ref":"b.json"}]}`,
			`{"items":[{"$ref":"https://x/#/a"},{"$ref":"#anchor"},{"$ref":"b.json"}]}`, true},
		{"values that look like references", `{"const":{"$ref":"#"},"enum":[{"$ref":"#"}],"default":{"$ref":"#"},"examples":[{"$ref":"#"}]}`,
			`{"const":{"$ref":"#"},"enum":[{"$ref":"#"}],"default":{"$ref":"#"},"examples":[{"$ref":"#"}]}`, true},
		{"properties with the names of keywords", `{"items":{"properties":{"const":{"$ref":"#"},"$ref":{"$ref":"#/a"},"$id":{}}}}`,
			`{"items":{"properties":{"const":{"$ref":"#/properties/result"},"$ref":{"$ref":"#/properties/result/a"},"$id":{}}}}`, true},
		{"an identity of its own", `{"$id":"https://x/y","items":{"$ref":"#/a"}}`, `{"$id":"https://x/y","items":{"$ref":"#/a"}}`, true},
		{"a part with an identity of its own", `{"items":{"$id":"z","$ref":"#/a"},"not":{"$id":"#z","$ref":"#/a"}}`,
			`{"items":{"$id":"z","$ref":"#/a"},"not":{"$id":"#z","$ref":"#/properties/result/a"}}`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			it := tool(t, `{"name":"a", "outputSchema":`+tt.schema+`,"execution":{},"z":1}`)
			edits, wrapped := it.ToLegacy([]jsonrpc.Edit{it.Rename("ns_a")})
			want := tt.want
			if tt.wrapped {
				want = `{"type":"object","properties":{"result":` + want + `},"required":["result"]}`
			}
			want = `{"name":"ns_a", "outputSchema":` + want + `,"z":1}`
			if got := string(it.AppendWith(nil, edits...)); got != want || wrapped != tt.wrapped {
				t.Errorf("wrapped: %v, got\n%s, want\n%s", wrapped, got, want)
			}
		})
	}
}

func TestItemToLegacyLeavesOddSchemasAlone(t *testing.T) {
	for _, raw := range []string{
		`{"name":"a","outputSchema":true}`, `{"name":"a","outputSchema":null}`, `{"name":"a"}`, `{"name":"a","outputSchema":{},"outputSchema":{}}`,
		`{"name":"a","outputSchema":{"type":"array","type":"object"}}`,
	} {
		if edits, wrapped := tool(t, raw).ToLegacy(nil); wrapped || len(edits) > 0 {
			t.Errorf("%s: wrapped %v, %v", raw, wrapped, edits)
		}
	}
}

func TestItemToLegacyOfADeepSchema(t *testing.T) {
	deep := strings.Repeat(`{"not":`, 9000) + `{"$ref":"#"}` + strings.Repeat(`}`, 9000)
	it := tool(t, `{"name":"a","outputSchema":`+deep+`}`)
	edits, wrapped := it.ToLegacy(nil)
	if got := it.AppendWith(nil, edits...); !wrapped || !json.Valid(got) {
		t.Errorf("wrapped: %v, %d bytes", wrapped, len(got))
	}
}

func TestAlwaysLoad(t *testing.T) {
	for name, tt := range map[string]struct{ raw, want string }{
		"no _meta":              {`{"name":"a"}`, `{"_meta":{"anthropic/alwaysLoad":true},"name":"a"}`},
		"spaces":                {"{ \n\"name\":\"a\" }", "{\"_meta\":{\"anthropic/alwaysLoad\":true}, \n\"name\":\"a\" }"},
		"_meta":                 {`{"name":"a","_meta":{"x":{"_meta":1}}}`, `{"name":"a","_meta":{"anthropic/alwaysLoad":true,"x":{"_meta":1}}}`},
		"an empty one":          {`{"_meta":{ },"name":"a"}`, `{"_meta":{"anthropic/alwaysLoad":true },"name":"a"}`},
		"said already":          {`{"_meta":{"anthropic/alwaysLoad":false},"name":"a"}`, ""},
		"said in other letters": {`{"_meta":{"anthropic\/alwaysLoad":false},"name":"a"}`, ""},
		"_meta is no object":    {`{"_meta":null,"name":"a"}`, ""},
		"_meta is there twice":  {`{"_meta":{},"name":"a","_meta":{}}`, ""},
	} {
		it, err := parseItem(Tool, []byte(tt.raw))
		if err != nil {
			t.Fatal(err)
		}
		e := it.AlwaysLoad()
		if e.New == nil {
			if tt.want != "" {
				t.Errorf("%s: no edit", name)
			}
			continue
		}
		if got := string(jsonrpc.AppendSplice(nil, it.Raw, e)); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
}
