package inputschema

import (
	"strings"
	"testing"
	"time"

	other "github.com/santhosh-tekuri/jsonschema/v6"
)

// FuzzCheck holds that nothing is refused that another library takes, and that whatever a
// server writes as a schema ends neither the program nor its patience.
func FuzzCheck(f *testing.F) {
	for _, tt := range problems {
		f.Add([]byte(tt.schema), []byte(tt.arguments))
	}
	f.Add([]byte(`{"$dynamicRef":"#x","$defs":{"x":{"$dynamicAnchor":"x"}}}`), []byte(`{}`))
	f.Add([]byte(`{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveRef":"#"}`), []byte(`[]`))
	f.Add([]byte(`{"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}`), []byte(nested(20)))
	f.Fuzz(func(t *testing.T, schema, arguments []byte) {
		s, err := Compile(schema)
		if err != nil {
			return
		}
		began := time.Now()
		got := s.Check(arguments)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: %s took %v", schema, arguments, took)
		}
		if len(got) > 0 && takes(schema, arguments) {
			t.Errorf("%s: %s is refused: %q", schema, arguments, got)
		}
	})
}

// takes reports whether the other library has nothing against the arguments.
func takes(schema, arguments []byte) bool {
	doc, err := other.UnmarshalJSON(strings.NewReader(string(schema)))
	if err != nil {
		return false
	}
	c := other.NewCompiler()
	c.UseLoader(other.SchemeURLLoader{})
	if c.AddResource("test:///schema.json", doc) != nil {
		return false
	}
	compiled, err := c.Compile("test:///schema.json")
	if err != nil {
		return false
	}
	v, err := other.UnmarshalJSON(strings.NewReader(string(arguments)))
	return err == nil && compiled.Validate(v) == nil
}
