package redact

import "testing"

func TestCleanIsFalseWhereSomethingCouldBeFound(t *testing.T) {
	for _, tt := range []struct {
		text string
		want bool
	}{
		{`{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"echo","arguments":{"text":"xxxx"}}}`, true},
		{`{"a":"is hunter22"}`, false},
		{`{"hunter22":1}`, false},
		{`{"ToKeN":1}`, false},
		{`{"x-API_Key":1}`, false},
		{`{"a":"\u0068unter22"}`, false},
		{`{"a":"%68unter22"}`, false},
		{`{"a":"&#104;unter22"}`, false},
		{`[]`, true},
	} {
		r := Redactor{Patterns: newPatterns([]string{"hunter22"})}
		if got := r.clean([]byte(tt.text)); got != tt.want {
			t.Errorf("%s: %t", tt.text, got)
		}
	}
	for _, secret := range []string{"abc", "1234"} { // whole strings and numbers
		if r := (Redactor{Patterns: newPatterns([]string{secret})}); r.clean([]byte(`{}`)) {
			t.Errorf("clean with the secret %s", secret)
		}
	}
}
