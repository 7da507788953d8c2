package redact

import "testing"

func TestKeysReplacesWholeValues(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"a string", `{"k":"v","l":"v"}`, `{"k":"[redacted]","l":"v"}`},
		{"a number", `{"k":-12.5e3,"l":1}`, `{"k":"[redacted]","l":1}`},
		{"a literal", `{"k":null}`, `{"k":"[redacted]"}`},
		{"an object", `{"k": {"a":[1,{"b":"}"}]} ,"l":{}}`, `{"k": "[redacted]" ,"l":{}}`},
		{"an array", `{"k":["a",[],{}],"l":["b"]}`, `{"k":"[redacted]","l":["b"]}`},
		{"a key in escapes", `{"\u006b":1}`, `{"\u006b":"[redacted]"}`},
		{"hidden before", `{"k":"[redacted]"}`, `{"k":"[redacted]"}`},
		{"a usual word is no key", `{"token":"v"}`, `{"token":"v"}`},
		{"JSON in a string", `{"t":"{\"k\":{\"a\":1},\"l\":2}"}`, `{"t":"{\"k\":\"[redacted]\",\"l\":2}"}`},
		{"a string in it", `{"t":"{\"k\":\"v\"}"}`, `{"t":"{\"k\":\"[redacted]\"}"}`},
		{"JSON in JSON in a string", `["[\"{\\\"k\\\":1}\"]"]`, `["[\"{\\\"k\\\":\\\"[redacted]\\\"}\"]"]`},
		{"text that is cut", `{"a":1,"k":{"b":[1,2`, `{"a":1,"k":"[redacted]"`},
		{"text around it", `sent {"k": 1} to x`, `sent {"k": "[redacted]"} to x`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := Redactor{Patterns: newPatterns(nil), Keys: func(key string) bool { return key == "k" }}
			got, _ := r.Text([]byte(tt.text), false)
			if string(got) != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if n := r.Replaced(); (n > 0) != (tt.text != tt.want) {
				t.Errorf("%d replaced", n)
			}
		})
	}
}
