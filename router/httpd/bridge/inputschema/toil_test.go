package inputschema

import (
	"strings"
	"testing"
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
		{"levels that double in other ways", `{` + object + `,"additionalProperties":{"$ref":"#"},"anyOf":[{"unevaluatedProperties":{"$ref":"#"}}]}`, nested(64), false},
		{"many levels of one reference", `{` + object + `,"properties":{"a":{"$ref":"#"}}}`, nested(64), true},
		{"more levels than there is stack for", `{` + object + `,"properties":{"a":{"$ref":"#"}}}`, nested(2000), false},
		{"a wide array", `{"properties":{"a":{"type":"array","items":{"type":"string"}}}}`, `{"a":[` + strings.Repeat("1,", 10_000) + `1]}`, true},
		{"a wide array for a wide schema", `{"properties":{"a":{"items":{"allOf":[` + strings.Repeat(`true,`, 500) + `{"type":"string"}]}}}}`, `{"a":[` + strings.Repeat("1,", 10_000) + `1]}`, false},
		{"a long text", `{"properties":{"a":{"maxLength":5}}}`, `{"a":"` + strings.Repeat("x", 1<<20) + `"}`, true},
		{"a long text for a long expression", `{"properties":{"a":{"pattern":"^y{1000}$"}}}`, `{"a":"` + strings.Repeat("x", 1<<20) + `"}`, false},
		{"a long name for a long expression", `{"patternProperties":{"^.{1000}":false}}`, `{"` + strings.Repeat("x", 1<<20) + `":1}`, false},
		{"a long value again and again", `{"anyOf":[` + strings.Repeat(`{"maxLength":1},`, 100) + `{"maxLength":1}]}`, `"` + strings.Repeat("x", 1<<18) + `"`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Compile([]byte(tt.schema))
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Check([]byte(tt.arguments)) != nil; got != tt.judged {
				t.Errorf("they are judged, and wrong: %t, want %t", got, tt.judged)
			}
		})
	}
}
