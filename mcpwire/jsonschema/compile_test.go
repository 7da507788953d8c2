package jsonschema

import (
	"fmt"
	"strings"
	"testing"
)

func TestSchemasThatAreUsed(t *testing.T) {
	for _, tt := range []struct {
		name, schema string
		used         bool
	}{
		{"an open one", `{"type":"object"}`, true},
		{"true", `true`, true},
		{"of an older draft", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","definitions":{"a":{}},"properties":{"a":{"$ref":"#/definitions/a"}}}`, true},
		{"of that draft in another spelling", `{"$schema":"https://json-schema.org/draft-07/schema"}`, true},
		{"of a draft that means nearly the same", `{"$schema":"https://json-schema.org/draft/2019-09/schema"}`, true},
		{"of a draft that means something else", `{"$schema":"http://json-schema.org/draft-04/schema#"}`, false},
		{"that refers to itself", `{"type":"object","properties":{"next":{"$ref":"#"}}}`, true},
		{"that refers to one of several", `{"anyOf":[{"type":"object"},{"properties":{"a":{"$ref":"#/anyOf/0"}}}]}`, true},
		{"that refers to an odd name", `{"$defs":{"a/b c%":{}},"$ref":"#/$defs/a~1b%20c%25"}`, true},
		{"with keywords that nobody knows", `{"type":"object","x-order":["a"],"id":"tool","format":"thing"}`, true},
		{"with properties that are spelled like keywords", `{"properties":{"Type":{},"Items":{},"items":{"type":"string"}}}`, true},
		{"with an id", `{"$id":"https://example.com/tool.json","type":"object"}`, true},
		{"none", ``, false},
		{"no schema", `{"type":"thing"}`, false},
		{"null", `null`, false},
		{"no JSON", `{"type":`, false},
		{"whose items are null", `{"items":null}`, false},
		{"one of whose properties is null", `{"properties":{"a":null}}`, false},
		{"that allows no type", `{"type":[]}`, false},
		{"that allows a type that there is not", `{"type":["string","text"]}`, false},
		{"that allows no value", `{"enum":[]}`, false},
		{"with a keyword in capitals, which is another", `{"Type":"string"}`, true},
		{"with required as it was once", `{"properties":{"a":{"required":true}}}`, false},
		{"with items as they were once", `{"items":[{"type":"string"}]}`, false},
		{"with an id inside", `{"$defs":{"a":{"$id":"http://127.0.0.1:1/x"}}}`, false},
		{"that refers to a file", `{"$ref":"file:///etc/hostname"}`, false},
		{"that refers to the network", `{"properties":{"a":{"$ref":"http://127.0.0.1:1/x"}}}`, false},
		{"that refers to nothing", `{"$ref":"#/$defs/a"}`, false},
		{"that refers to what is no schema", `{"$ref":"#/type","type":"object"}`, false},
		{"of a draft from the network", `{"$schema":"http://127.0.0.1:1/x","type":"object"}`, false},
		{"of two drafts", `{"properties":{"a":{"$schema":"http://json-schema.org/draft-07/schema#"}}}`, false},
		{"with an expression that is none here", `{"properties":{"a":{"pattern":"^(?!x)"}}}`, false},
		{"with an expression that is a lot of work", `{"pattern":"` + strings.Repeat("x{1000}", 60) + `"}`, false},
		{"with numbers that float64 has not", `{"maximum":9007199254740993,"multipleOf":0.01}`, true},
		{"with an extreme number", `{"maximum":1e500}`, false},
		{"with a multiple of nothing", `{"multipleOf":0}`, false},
		{"that is too long", `{"description":"` + strings.Repeat("x", maxBytes) + `"}`, false},
		{"that is too deep", strings.Repeat(`{"not":`, maxNesting+1) + "true" + strings.Repeat("}", maxNesting+1), false},
		{"whose places are too long to name", `{"properties":{"` + strings.Repeat("x", 100_000) + `":{"anyOf":[true` + strings.Repeat(",true", 50) + `]}}}`, false},
		{"whose references are one behind another", chain(20, `{"$ref":"#/$defs/a%d"}`), true},
		{"whose references do not say where they lead", `{"$dynamicRef":"#x","$defs":{"x":{"$dynamicAnchor":"x"}}}`, false},
		{"with a keyword that depends on others", `{"unevaluatedProperties":false}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if s, err := Compile([]byte(tt.schema)); (err == nil) != tt.used || (s != nil) != tt.used {
				t.Errorf("used: %t, want %t: %v", s != nil, tt.used, err)
			}
		})
	}
}

// chain is a schema that refers to the last of so many definitions, each of which refers to
// the one before.
func chain(n int, each string) string {
	text := `{"$defs":{"a0":{}`
	for i := range n {
		text += fmt.Sprintf(`,"a%d":`, i+1) + fmt.Sprintf(each, i)
	}
	return text + fmt.Sprintf(`},"$ref":"#/$defs/a%d"}`, n)
}
