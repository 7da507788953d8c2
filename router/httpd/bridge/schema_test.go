package bridge

import (
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func TestSchemasThatAreUsed(t *testing.T) {
	chain := `{"$defs":{"a0":{}`
	for i := range 100 {
		chain += fmt.Sprintf(`,"a%d":{"allOf":[{"not":{"$ref":"#/$defs/a%d"}},{"$ref":"#/$defs/a%d"}]}`, i+1, i, i)
	}
	chain += `},"$ref":"#/$defs/a100"}`
	for _, tt := range []struct {
		name, schema string
		used         bool
	}{
		{"an open one", `{"type":"object"}`, true},
		{"true", `true`, true},
		{"of an older draft", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","definitions":{"a":{}},"properties":{"a":{"$ref":"#/definitions/a"}}}`, true},
		{"that refers to itself", `{"type":"object","properties":{"next":{"$ref":"#"}}}`, true},
		{"none", ``, false},
		{"no schema", `{"type":"thing"}`, false},
		{"no JSON", `{"type":`, false},
		{"that refers to a file", `{"$ref":"file:///etc/hostname"}`, false},
		{"that refers to the network", `{"properties":{"a":{"$ref":"http://127.0.0.1:1/x"}}}`, false},
		{"of a draft from the network", `{"$schema":"http://127.0.0.1:1/x","type":"object"}`, false},
		{"with an expression that is none here", `{"properties":{"a":{"pattern":"^(?!x)"}}}`, false},
		{"that is too long", `{"description":"` + strings.Repeat("x", maxSchema) + `"}`, false},
		{"that doubles at each of many levels", chain, false},
		{"whose references do not say where they lead", `{"$dynamicRef":"#x","$defs":{"x":{"$dynamicAnchor":"x"}}}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := compile([]byte(tt.schema)) != nil; got != tt.used {
				t.Errorf("used: %t, want %t", got, tt.used)
			}
		})
	}
}

func TestArgumentsThatWouldTakeForEver(t *testing.T) {
	schema := compile([]byte(`{"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}`))
	for levels, want := range map[int]bool{3: false, 10: false, 64: true} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.Repeat(`{"a":`, levels) + "1" + strings.Repeat("}", levels)))
		if err != nil {
			t.Fatal(err)
		}
		if got := tooDeep(value, schema.branching); got != want {
			t.Errorf("%d levels are too deep: %t, want %t", levels, got, want)
		}
	}
	if plain := compile([]byte(`{"type":"object","properties":{"next":{"$ref":"#"}}}`)); plain.branching != 1 {
		t.Errorf("a list branches %g times", plain.branching)
	}
}

func TestProblemsOfArguments(t *testing.T) {
	schema := compile([]byte(`{"type":"object","required":["a/b"],"properties":{"a/b":{"type":"array","items":{"oneOf":[{"type":"string"},{"const":1}]}}}}`))
	for arguments, want := range map[string]string{
		`{}`:                "missing property 'a/b'",
		`{"a/b":["x",1,2]}`: "at /a~1b/2: got number, want string|at /a~1b/2: value must be 1",
		`{"a/b":["x",1]}`:   "",
	} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(arguments))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if err := schema.Validate(value); err != nil {
			for _, p := range appendProblems(nil, err.(*jsonschema.ValidationError)) {
				got = append(got, p.String())
			}
		}
		if text := strings.Join(got, "|"); text != want {
			t.Errorf("%s: got %q, want %q", arguments, text, want)
		}
	}
}

func FuzzSchema(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"$ref":"#"}}}`), []byte(`{"a":{"a":1}}`))
	f.Add([]byte(`{"$dynamicRef":"#x","$defs":{"x":{"$dynamicAnchor":"x"}}}`), []byte(`{}`))
	f.Add([]byte(`{"patternProperties":{"^a+$":false}}`), []byte(`{"aa":1}`))
	f.Fuzz(func(t *testing.T, schema, arguments []byte) {
		compiled := compile(schema)
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(arguments)))
		if compiled == nil || err != nil || tooDeep(value, compiled.branching) {
			return
		}
		if wrong, ok := compiled.Validate(value).(*jsonschema.ValidationError); ok {
			if problems := appendProblems(nil, wrong); len(problems) == 0 || strings.ContainsAny(problems[0].String(), "\n\x1b") {
				t.Errorf("%q", problems)
			}
		}
	})
}

func FuzzBody(f *testing.F) {
	f.Add([]byte(`{"server":"s","tool":"t","arguments":{"a":[1,"\n"]}}`))
	f.Add([]byte("{\"server\":\"s\",\n\"Server\":\"t\"}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, wrong := parse(text, "server", "tool", "arguments")
		if wrong != nil {
			return
		}
		if arguments, wrong := p.object("arguments"); wrong == nil && (arguments[0] != '{' || strings.ContainsAny(string(arguments), "\n\r")) {
			t.Errorf("the arguments are %q", arguments)
		}
	})
}

func TestCorrelationIDs(t *testing.T) {
	for said, want := range map[string]string{
		"job-1.2:3/x":            "job-1.2:3/x",
		"a b\n\"c\"<d>\x1b[1mé":  "abcd[1m",
		strings.Repeat("x", 300): strings.Repeat("x", maxCorrelation),
		"\n\t":                   "",
	} {
		if got := plain(said); got != want {
			t.Errorf("%q: got %q, want %q", said, got, want)
		}
	}
}
