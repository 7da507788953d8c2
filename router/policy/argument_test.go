package policy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// forbids reports whether a rule with these conditions forbids a call with arguments.
func forbids(t testing.TB, where map[string][]any, arguments string) bool {
	t.Helper()
	d := DenyRule{Tool: Entry{Text: "*"}, Line: 3}
	for name, values := range where {
		d.Where = append(d.Where, Condition{name, values})
	}
	r := &Rules{File: "tools.toml", Agents: map[string]Agent{"a": {Servers: listOf(1, "*"), Deny: []DenyRule{d}}}, Default: Flag{On: true}}
	p, err := r.For("a")
	if err != nil {
		t.Fatal(err)
	}
	rule := p.Judge("fs", []Item{{Name: "write_file"}})[0].Conditions().Forbids([]byte(arguments))
	if rule != "" && !strings.HasSuffix(rule, "(tools.toml:3)") {
		t.Errorf("the rule is %q", rule)
	}
	return rule != ""
}

func TestConditionsOnArguments(t *testing.T) {
	etc := map[string][]any{"path": {"/etc/*"}}
	for _, tt := range []struct {
		name      string
		where     map[string][]any
		arguments string
		want      bool
	}{
		{"a match", etc, `{"path":"/etc/passwd"}`, true},
		{"no match", etc, `{"path":"/tmp/x"}`, false},
		{"a missing argument", etc, `{"file":"/etc/passwd"}`, false},
		{"no arguments", etc, ``, false},
		{"empty arguments", etc, `{}`, false},
		{"null for arguments", etc, `null`, false},

		{"an escaped value", etc, `{"path":"\u002f\u0065tc\/passwd"}`, true},
		{"an escaped name", etc, `{"p\u0061th":"/etc/passwd"}`, true},
		{"the first of two equal names", etc, `{"path":"/etc/passwd","path":"/tmp/x"}`, true},
		{"the second of two equal names", etc, `{"path":"/tmp/x","path":"/etc/passwd"}`, true},
		{"another case of the name", etc, `{"Path":"/etc/passwd"}`, true},
		{"another case of a letter outside ASCII", map[string][]any{"mask": {"x"}}, `{"ma\u017f\u212a":"X"}`, true},
		{"a name with NULs", etc, `{"\u0000path\u0000x":"/etc/passwd"}`, true},
		{"another case of the value", etc, `{"path":"/ETC/passwd"}`, true},
		{"spaces between everything", etc, " {\n\"path\"\t:\r\"/etc/passwd\" } ", true},

		{"an element of an array", etc, `{"path":["/tmp/x",["/etc/passwd"]]}`, true},
		{"no element of an array", etc, `{"path":["/tmp/x","/tmp/y"]}`, false},
		{"a value in an object", etc, `{"path":{"raw":"/etc/passwd"}}`, true},
		{"JSON in a string", etc, `{"path":"[\"/tmp/x\", \"/etc/passwd\"]"}`, true},
		{"JSON in JSON in a string", etc, `{"path":"\"\\\"/etc/passwd\\\"\""}`, true},
		{"another argument with the value", etc, `{"content":"/etc/passwd","path":"/tmp/x"}`, false},

		{"a path with ..", etc, `{"path":"/etc/../tmp/x"}`, true}, // as it is
		{"a path through ..", etc, `{"path":"/tmp/../etc/passwd"}`, true},
		{"repeated slashes", etc, `{"path":"//etc///passwd"}`, true},
		{"a dot", etc, `{"path":"/./etc/./passwd"}`, true},
		{"out of the folder", etc, `{"path":"../../etc/passwd"}`, true},
		{"out of a folder in it", etc, `{"path":"a/../../../etc/passwd"}`, true},
		{"backslashes", etc, `{"path":"\\etc\\passwd"}`, true},
		{"the folder with a slash", etc, `{"path":"/tmp/../etc/"}`, true},
		{"the folder", etc, `{"path":"/etc"}`, false},
		{"the folder, which is named", map[string][]any{"path": {"/etc", "/etc/*"}}, `{"path":"/tmp/../etc"}`, true},
		{"another folder with that beginning", etc, `{"path":"/etcetera/x"}`, false},
		{"a relative path", etc, `{"path":"etc/passwd"}`, false},
		{"a relative path and a pattern for any folder", map[string][]any{"path": {"*/.ssh/*"}}, `{"path":".ssh/id"}`, true},
		{"a relative path and a pattern for absolute ones", map[string][]any{"path": {"/*"}}, `{"path":"src/x"}`, false},
		{"spaces and quotes around", etc, `{"path":" \"'/etc/passwd' \""}`, true},
		{"a file URI", etc, `{"path":"file:///etc/passwd"}`, true},
		{"a file URI with escapes", etc, `{"path":"FILE:/%65tc%2fpasswd"}`, true},
		{"a file URI with a host", etc, `{"path":"file://localhost/tmp/../etc/passwd"}`, true},
		{"a path that C ends", etc, `{"path":"/tmp/../etc/x\u0000.txt"}`, true},
		{"a device path", map[string][]any{"path": {"c:/windows/*"}}, `{"path":"\\\\?\\C:\\Windows\\x"}`, true},

		{"an inner argument", map[string][]any{"options.path": {"/etc/*"}}, `{"options":{"path":"/etc/x"}}`, true},
		{"an inner argument in an array", map[string][]any{"files.path": {"/etc/*"}}, `{"files":[{"path":"/tmp/x"},{"path":"/etc/x"}]}`, true},
		{"an inner argument in a string", map[string][]any{"options.path": {"/etc/*"}}, `{"options":"{\"path\":\"/etc/x\"}"}`, true},
		{"a name with a dot", map[string][]any{"options.path": {"/etc/*"}}, `{"options.path":"/etc/x"}`, true},
		{"the inner argument at the top", map[string][]any{"options.path": {"/etc/*"}}, `{"path":"/etc/x"}`, false},
		{"any argument", map[string][]any{"*": {"/etc/*"}}, `{"a":{"b":[{"c":"/etc/x"}]}}`, true},
		{"any argument, inside", map[string][]any{"*.path": {"/etc/*"}}, `{"a":{"path":"/etc/x"}}`, true},
		{"any argument, not inside", map[string][]any{"*.path": {"/etc/*"}}, `{"path":"/etc/x"}`, false},

		{"two conditions that hold", map[string][]any{"path": {"/etc/*"}, "force": {true}}, `{"path":"/etc/x","force":true}`, true},
		{"two of which one holds", map[string][]any{"path": {"/etc/*"}, "force": {true}}, `{"path":"/etc/x","force":false}`, false},
		{"two of which one is missing", map[string][]any{"path": {"/etc/*"}, "force": {true}}, `{"path":"/etc/x"}`, false},

		{"a number", map[string][]any{"n": {5.0}}, `{"n":5}`, true},
		{"a number in another spelling", map[string][]any{"n": {5.0}}, `{"n":0.50e+1}`, true},
		{"a number in a string", map[string][]any{"n": {5.0}}, `{"n":" 5.0 "}`, true},
		{"another number", map[string][]any{"n": {5.0}}, `{"n":6}`, false},
		{"a number that is too large", map[string][]any{"n": {5.0}}, `{"n":1e999}`, false},
		{"zero in another spelling", map[string][]any{"n": {0.0}}, `{"n":-0.0}`, true},
		{"no number", map[string][]any{"n": {0.0}}, `{"n":"x"}`, false},
		{"a number and a glob", map[string][]any{"n": {"1*"}}, `{"n":12}`, true},
		{"a number of another spelling and a glob", map[string][]any{"n": {"100"}}, `{"n":1e2}`, true},
		{"a boolean", map[string][]any{"b": {true}}, `{"b":true}`, true},
		{"another boolean", map[string][]any{"b": {true}}, `{"b":false}`, false},
		{"a boolean as a word", map[string][]any{"b": {true}}, `{"b":"Yes"}`, true},
		{"a boolean as a number", map[string][]any{"b": {false}}, `{"b":0}`, true},
		{"a boolean as a number of another spelling", map[string][]any{"b": {true}}, `{"b":1.0}`, true},
		{"null and a glob", map[string][]any{"b": {"*"}}, `{"b":null}`, true},
		{"one of several values", map[string][]any{"b": {"main", "release/*"}}, `{"b":"release/1"}`, true},
	} {
		if got := forbids(t, tt.where, tt.arguments); got != tt.want {
			t.Errorf("%s: %s forbidden: %t", tt.name, tt.arguments, got)
		}
	}
}

// JSON in strings in JSON … is forbidden when it is too deep to be read.
func TestJSONInStringsIsBounded(t *testing.T) {
	text := []byte(`"x"`)
	for range 6 {
		text, _ = json.Marshal(string(text))
	}
	if !forbids(t, map[string][]any{"path": {"/etc/*"}}, fmt.Sprintf(`{"path":%s}`, text)) {
		t.Error("it is allowed")
	}
	deep := strings.Repeat("[", 9000) + `"/etc/x"` + strings.Repeat("]", 9000)
	if !forbids(t, map[string][]any{"path": {"/etc/*"}}, `{"path":`+deep+`}`) {
		t.Error("nested arrays are allowed")
	}
}

// FuzzConditions compares the evaluation with one on the decoded arguments: whatever the spelling,
// a value that matches is found.
func FuzzConditions(f *testing.F) {
	for _, text := range []string{`{"path":"/etc/x"}`, `{"path":"\u002fetc/x","a":[{"path":{}}]}`, `{"path":["/tmp",{"b":"//etc/x"}]}`, `{"PATH":"/etc/../etc/x"}`, `{"a":{"path":"/etc/x"}}`, `[]`, `null`, `{"path":"[\"/etc/x\"]"}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) {
			return
		}
		var arguments any
		if json.Unmarshal([]byte(text), &arguments) != nil {
			return // a number that is too large
		}
		got := forbids(t, map[string][]any{"path": {"/etc/*"}}, text)
		if object, ok := arguments.(map[string]any); ok && !got && hasEtc(object["path"]) {
			t.Errorf("%s is allowed", text)
		}
		again, err := json.Marshal(arguments)
		if err == nil && forbids(t, map[string][]any{"path": {"/etc/*"}}, string(again)) && !got {
			t.Errorf("%s is allowed, and %s is not", text, again)
		}
	})
}

// hasEtc reports whether a decoded value, or one in it, is in /etc.
func hasEtc(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.HasPrefix(v, "/etc/")
	case []any:
		for _, e := range v {
			if hasEtc(e) {
				return true
			}
		}
	case map[string]any:
		for _, e := range v {
			if hasEtc(e) {
				return true
			}
		}
	}
	return false
}
