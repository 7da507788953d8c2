package redact

import (
	"strings"
	"testing"
)

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
	for _, secret := range []string{"a1b2", "a1b2c", "a1b2c3", "a1b2c3d4"} { // at every place, also at the very end
		r := Redactor{Patterns: newPatterns([]string{secret, "swordfish"})}
		for before := range 9 {
			for after := range 9 {
				for _, s := range []string{secret, strings.ToUpper(secret), "token", "swordfish", "cookie"} {
					if text := strings.Repeat("x", before) + s + strings.Repeat("y", after); r.clean([]byte(text)) {
						t.Errorf("clean with the secret %s: %s", secret, text)
					}
				}
			}
		}
	}
	for _, secret := range []string{"abc", "1234"} { // whole strings and numbers
		if r := (Redactor{Patterns: newPatterns([]string{secret})}); r.clean([]byte(`{}`)) {
			t.Errorf("clean with the secret %s", secret)
		}
	}
}
