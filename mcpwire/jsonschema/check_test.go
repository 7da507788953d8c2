package jsonschema

import (
	"strings"
	"sync"
	"testing"
	"time"

	other "github.com/santhosh-tekuri/jsonschema/v6"
)

const draft7 = `"$schema":"http://json-schema.org/draft-07/schema#"`

var problems = []struct{ name, schema, arguments, want string }{
	{"what is right", `{"properties":{"a":{"type":"integer"}}}`, `{"a":1.0}`, ""},
	{"a wrong type", `{"type":"object","properties":{"files":{"type":"array","items":{"properties":{"mode":{"type":"string"}}}}}}`,
		`{"files":[{"mode":"r"},{},{"mode":5}]}`, `at /files/2/mode: has type "integer", want "string"`},
	{"a wrong type of several", `{"type":["string","null"]}`, `[1]`, `has type "array", want one of "string, null"`},
	{"null", `{"properties":{"a":{"type":"string"}}}`, `{"a":null}`, `at /a: has type "null", want "string"`},
	{"what is missing", `{"type":"object","required":["a/b","c"]}`, `{}`, "missing property 'a/b'|missing property 'c'"},
	{"what is too much", `{"properties":{"a":{}},"additionalProperties":false}`, `{"a":1,"b":2,"c":3}`, "unexpected property 'b'|unexpected property 'c'"},
	{"names that have to be escaped", `{"properties":{"a/b~":{"const":1}}}`, `{"a/b~":2}`, "at /a~1b~0: has to be 1"},
	{"several places", `{"properties":{"a":{"minimum":3},"b":{"items":{"maxLength":1}}},"required":["c"]}`, `{"b":["xx","y","zz"],"a":2}`,
		"missing property 'c'|at /a: has to be at least 3|at /b/0: has to have at most 1 characters|at /b/2: has to have at most 1 characters"},
	{"alternatives", `{"properties":{"a/b":{"items":{"oneOf":[{"type":"string"},{"const":1}]}}}}`, `{"a/b":["x",1,2]}`,
		`at /a~1b/2: has type "integer", want "string"|at /a~1b/2: has to be 1`},
	{"the alternative that is meant", `{"properties":{"a":{"anyOf":[{"type":"object","properties":{"n":{"type":"number"}}},{"type":"null"}]}}}`, `{"a":{"n":"x"}}`,
		`at /a/n: has type "string", want "number"`},
	{"two alternatives at once", `{"oneOf":[{"minimum":1},{"maximum":2}]}`, `1.5`, "does not fit exactly one of the alternatives (oneOf)"},
	{"through references", `{"$ref":"#/$defs/node","$defs":{"node":{"properties":{"next":{"$ref":"#/$defs/node"},"n":{"type":"integer"}}}}}`, `{"next":{"next":{"n":0.5}}}`,
		`at /next/next/n: has type "number", want "integer"`},
	{"through references of draft-07", `{` + draft7 + `,"$ref":"#/definitions/Args","definitions":{"Args":{"type":"object","properties":{"a":{"$ref":"#/definitions/B","type":"null"}}},"B":{"$ref":"#/definitions/C"},"C":{"type":"string"}}}`, `{"a":1}`,
		`at /a: has type "integer", want "string"`},
	{"tuples", `{"prefixItems":[{"type":"string"}],"items":false}`, `[1,2]`, `at /0: has type "integer", want "string"|at /1: is not allowed`},
	{"tuples of draft-07", `{` + draft7 + `,"items":[{"type":"string"}],"additionalItems":{"type":"null"}}`, `[1,2]`,
		`at /0: has type "integer", want "string"|at /1: has type "integer", want "null"`},
	{"patterns of names", `{"patternProperties":{"^n_":{"type":"number"}},"additionalProperties":{"type":"string"}}`, `{"n_a":"x","b":1}`,
		`at /b: has type "integer", want "string"|at /n_a: has type "string", want "number"`},
	{"names", `{"propertyNames":{"maxLength":1}}`, `{"a":1,"bb":2}`, "the name 'bb' is not one that the schema allows"},
	{"conditions", `{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"properties":{"c":{"const":1}}}}`, `{"c":2}`, "at /c: has to be 1"},
	{"what depends", `{"dependentSchemas":{"a":{"properties":{"b":{"type":"string"}}}},"dependentRequired":{"a":["c"]}}`, `{"a":1,"b":2,"c":3}`,
		`at /b: has type "integer", want "string"`},
	{"one problem twice", `{"allOf":[{"type":"string"},{"type":"string"}]}`, `1`, `has type "integer", want "string"`},
	{"an enumeration", `{"enum":["a",1,null]}`, `"b"`, `has to be one of ["a",1,null]`},
	{"bounds", `{"items":{"exclusiveMinimum":0,"exclusiveMaximum":10,"multipleOf":2}}`, `[0,10,3]`,
		"at /0: has to be more than 0|at /1: has to be less than 10|at /2: has to be a multiple of 2"},
	{"texts", `{"items":{"minLength":2,"pattern":"^a"}}`, `["a","bc"]`, `at /0: has to have at least 2 characters|at /1: does not match the regular expression "^a"`},
	{"arrays", `{"properties":{"a":{"minItems":1},"b":{"uniqueItems":true},"c":{"contains":{"type":"null"}}}}`, `{"a":[],"b":[1,1],"c":[1]}`,
		"at /a: has to have at least 1 elements|at /b: has equal elements 0 and 1|at /c: has no element that is as contains says"},
	{"what is not to be", `{"properties":{"a":{"not":{"type":"string"}},"b":false}}`, `{"a":"x","b":1}`, "at /a: is not allowed|at /b: is not allowed"},
	{"large numbers that are exact", `{"items":{"type":"integer"},"uniqueItems":true}`, `[9007199254740992,9007199254740993,18446744073709551616]`, ""},
	{"fractions", `{"multipleOf":0.01}`, `0.07`, ""},
	{"equal numbers", `{"uniqueItems":true}`, `[1,1.0]`, "has equal elements 0 and 1"},
	{"a number beyond float64", `{"items":{"type":"string"}}`, `[1,1e500]`, ""},
	{"an integer beyond those of 64 bits", `{"items":{"type":"string"}}`, `[18446744073709551616]`, `at /0: has type "integer", want "string"`},
	{"a format, which is for the server", `{"format":"email"}`, `"x"`, ""},
}

func TestProblems(t *testing.T) {
	for _, tt := range problems {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Compile([]byte(tt.schema))
			if err != nil {
				t.Fatal(err)
			}
			if got := lines(s.Check([]byte(tt.arguments))); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func lines(all []Problem) string {
	var text []string
	for _, p := range all {
		text = append(text, p.String())
	}
	return strings.Join(text, "|")
}

// TestPlacesOfMany has more wrong than is gone into: what is left out is never taken for
// right.
func TestPlacesOfMany(t *testing.T) {
	s, err := Compile([]byte(`{"properties":{"a":{"items":{"properties":{"b":{"type":"string"}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	got := s.Check([]byte(`{"a":[` + strings.Repeat(`{"b":"x"},`, 90_000) + `{"b":1}]}`))
	if len(got) != 1 || !strings.HasPrefix(got[0].String(), "at /a") || strings.Contains(got[0].Message, "s:") {
		t.Errorf("got %q", got)
	}
}

func TestChecksAtOnce(t *testing.T) {
	s, err := Compile([]byte(problems[1].schema))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got := lines(s.Check([]byte(problems[1].arguments))); got != problems[1].want {
				t.Errorf("got %s", got)
			}
		})
	}
	all.Wait()
}

// BenchmarkCheck is what a call through the bridge pays for.
func BenchmarkCheck(b *testing.B) {
	s, err := Compile([]byte(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","required":["path"],"additionalProperties":false,
		"properties":{"path":{"type":"string","minLength":1},"edits":{"type":"array","items":{"type":"object","required":["oldText"],
		"properties":{"oldText":{"type":"string"},"newText":{"type":"string"}}}},"dryRun":{"type":"boolean","default":false}}}`))
	if err != nil {
		b.Fatal(err)
	}
	for name, arguments := range map[string]string{
		"right": `{"path":"/a/b","edits":[{"oldText":"x","newText":"y"}],"dryRun":true}`,
		"wrong": `{"path":"/a/b","edits":[{"oldText":"x","newText":1}],"dryRun":true}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Check([]byte(arguments))
			}
		})
	}
}

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
