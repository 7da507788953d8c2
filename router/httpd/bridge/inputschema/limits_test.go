package inputschema

import (
	"strings"
	"testing"
	"time"
)

// nested are arguments of so many levels, with a number innermost.
func nested(levels int) string {
	return strings.Repeat(`{"a":`, levels) + "1" + strings.Repeat("}", levels)
}

func TestArgumentsThatWouldTakeTooLong(t *testing.T) {
	const object = `"type":"object"`
	for _, tt := range []struct {
		name, schema, arguments string
		judged                  bool
	}{
		{"few levels of references that double", `{` + object + `,"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}`, nested(5), true},
		{"many levels of them", `{` + object + `,"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}`, nested(64), false},
		{"many levels of one reference", `{` + object + `,"properties":{"a":{"$ref":"#"}}}`, nested(64), true},
		{"more levels than there is stack for", `{` + object + `,"properties":{"a":{"$ref":"#"}}}`, nested(2000), false},
		{"a wide array", `{"properties":{"a":{"type":"array","items":{"type":"string"}}}}`, `{"a":[` + strings.Repeat(`"x",`, 10_000) + `1]}`, true},
		{"a wide array for a wide schema", `{"properties":{"a":{"items":{"allOf":[` + strings.Repeat(`true,`, 500) + `{"type":"string"}]}}}}`, `{"a":[` + strings.Repeat(`"x",`, 10_000) + `1]}`, false},
		{"a wide array for a wide enum", `{"items":{"enum":[` + strings.Repeat(`0,`, 5000) + `1]}}`, `[` + strings.Repeat("1,", 10_000) + `2]`, false},
		{"a long text", `{"properties":{"a":{"maxLength":5}}}`, `{"a":"` + strings.Repeat("x", 1<<20) + `"}`, true},
		{"a long text for a long expression", `{"properties":{"a":{"pattern":"^y{1000}$"}}}`, `{"a":"` + strings.Repeat("x", 1<<20) + `"}`, false},
		{"a long name for a long expression", `{"patternProperties":{"^.{1000}":false}}`, `{"` + strings.Repeat("x", 1<<20) + `":1}`, false},
		{"a long value again and again", `{"anyOf":[` + strings.Repeat(`{"maxLength":1},`, 2000) + `{"maxLength":1}]}`, `"` + strings.Repeat("x", 1<<18) + `"`, false},
		{"that are many and equal", `{"uniqueItems":true}`, `[` + strings.Repeat("1,", 10_000) + `1]`, true},
		{"a schema that doubles", chain(100, `{"allOf":[{"not":{"$ref":"#/$defs/a%[1]d"}},{"$ref":"#/$defs/a%[1]d"}]}`), `1`, false},
		{"references that are far behind each other", chain(maxNesting, `{"$ref":"#/$defs/a%d"}`), `1`, false},
		{"a schema that is itself", `{"$ref":"#"}`, `1`, false},
		{"a schema that is itself, in part", `{"anyOf":[{"type":"string"},{"not":{"$ref":"#"}}]}`, `1`, false},
		{"a schema that is itself, by way of another", `{"if":{"$ref":"#/$defs/a"},"$defs":{"a":{"dependentSchemas":{"b":{"$ref":"#"}}}}}`, `{"b":1}`, false},
		{"a schema of an older draft that is itself", `{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/a","definitions":{"a":{"$ref":"#/definitions/b"},"b":{"$ref":"#/definitions/a"}}}`, `1`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Compile([]byte(tt.schema))
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if got := s.Check([]byte(tt.arguments)) != nil; got != tt.judged {
				t.Errorf("they are judged, and wrong: %t, want %t", got, tt.judged)
			}
			t.Log(time.Since(began))
		})
	}
}
