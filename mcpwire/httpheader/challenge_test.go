package httpheader

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// shown writes challenges as text, with sorted parameters.
func shown(all []Challenge) string {
	var text strings.Builder
	for _, c := range all {
		fmt.Fprintf(&text, "%s(", c.Scheme)
		for i, name := range slices.Sorted(maps.Keys(c.Params)) {
			if i > 0 {
				text.WriteString(", ")
			}
			fmt.Fprintf(&text, "%s=%q", name, c.Params[name])
		}
		text.WriteString(") ")
	}
	return strings.TrimSuffix(text.String(), " ")
}

func TestChallenges(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"none", nil, ""},
		{"empty", []string{"", " , ,"}, ""},
		{"a scheme alone", []string{"Bearer"}, "bearer()"},
		{"of MCP", []string{`Bearer error="invalid_token", resource_metadata="https://a.example/.well-known/oauth-protected-resource", scope="a b"`},
			`bearer(error="invalid_token", resource_metadata="https://a.example/.well-known/oauth-protected-resource", scope="a b")`},
		{"names in any case, spaces, tokens", []string{"BEARER Realm = x ,\tSCOPE=\"a\""}, `bearer(realm="x", scope="a")`},
		{"of RFC 9110, 11.6.1", []string{`Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\""`},
			`basic(realm="simple") newauth(realm="apps", title="Login to \"apps\"", type="1")`},
		{"several lines", []string{"Negotiate", `Bearer scope="a"`}, `negotiate() bearer(scope="a")`},
		{"on one line", []string{`Negotiate, Bearer scope="a", Basic`}, `negotiate() bearer(scope="a") basic()`},
		{"quoted commas, and what looks like another challenge", []string{`Bearer error_description="no, Basic realm=x, no", scope="a"`},
			`bearer(error_description="no, Basic realm=x, no", scope="a")`},
		{"token68", []string{`NTLM abc+/==, Bearer scope="a"`, "Negotiate YII="}, `ntlm() bearer(scope="a") negotiate()`},
		{"a parameter without a value is token68", []string{`Bearer realm=, Basic`}, "bearer() basic()"},
		{"a missing comma", []string{`Bearer error="invalid_token" resource_metadata="https://a.example"`}, `bearer(error="invalid_token", resource_metadata="https://a.example")`},
		{"empty elements", []string{`Bearer ,, scope="a",,`}, `bearer(scope="a")`},
		{"an empty value", []string{`Bearer scope=""`}, `bearer(scope="")`},
		{"the first of two parameters", []string{`Bearer scope="a", SCOPE="b"`}, `bearer(scope="a")`},
		{"no end quote", []string{`Bearer scope="a", realm="b`, "Basic"}, `bearer(scope="a") basic()`},
		{"a backslash at the end", []string{`Bearer scope="a\`}, "bearer()"},
		{"a control character", []string{"Bearer scope=\"a\x1b[2J\", realm=b"}, `bearer(realm="b")`},
		{"a value that is no token", []string{`Bearer scope=a:b, realm=c`}, `bearer(realm="c")`},
		{"a value with text behind it", []string{`Bearer error=a"b, c", realm=c`}, `bearer(realm="c")`},
		{"no scheme", []string{`scope="a", "x, y", Bearer realm=b`}, `bearer(realm="b")`},
		{"a parameter does not continue on the next line", []string{"Bearer", "scope=a"}, "bearer()"},
		{"a scheme that is no token", []string{"Bea:rer, Basic, realm=b"}, `basic(realm="b")`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := http.Header{"Www-Authenticate": tt.lines}
			if got := shown(Challenges(h)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestChallengesAreBounded(t *testing.T) {
	h := http.Header{}
	for range 100 {
		h.Add("WWW-Authenticate", "Bearer a=b, Basic")
	}
	if n := len(Challenges(h)); n != maxChallenges {
		t.Errorf("got %d challenges", n)
	}
	h.Set("WWW-Authenticate", "Bearer "+strings.Repeat("a=b, ", maxChallengeBytes/5)+"c=d")
	h.Add("WWW-Authenticate", "Basic")
	if got := shown(Challenges(h)); got != `bearer(a="b")` {
		t.Errorf("got %s", got)
	}
}

func TestBearer(t *testing.T) {
	for lines, want := range map[string]string{
		"Basic realm=x":          "",
		"Basic, Bearer realm=x":  "x",
		"Bearer realm=x, Bearer": "x",
		"Bearer realm=x, Bearer realm=y, resource_metadata=m, Bearer realm=z, resource_metadata=m": "y",
	} {
		got, ok := Bearer(Challenges(http.Header{"Www-Authenticate": {lines}}))
		if ok != (want != "") || got.Params["realm"] != want {
			t.Errorf("%s: got %v, %v", lines, got, ok)
		}
	}
}

func FuzzChallenges(f *testing.F) {
	f.Add(`Bearer scope="a b", realm=c, NTLM abc==, Basic realm="a\"b"`, "Negotiate")
	f.Add(`Bearer a="`, `=,"`)
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, c := range Challenges(http.Header{"Www-Authenticate": {a, b}}) {
			if !IsToken(c.Scheme) || c.Scheme != strings.ToLower(c.Scheme) {
				t.Errorf("the scheme %q", c.Scheme)
			}
			for name, value := range c.Params {
				if !IsToken(name) || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
					t.Errorf("the parameter %q: %q", name, value)
				}
			}
		}
	})
}
