package modes

import (
	"encoding/base64"
	"errors"
	"maps"
	"net/url"
	"strings"
	"testing"

	"toolman/router/httpd/presence"
)

func TestConfigsThatAreTaken(t *testing.T) {
	m := New(Options{ConfigKeys: []string{"KEY", "OTHER"}})
	const text = `{"KEY":"s>e?c","OTHER":"ÿ"}`
	want := map[string]string{"KEY": "s>e?c", "OTHER": "ÿ"}
	for name, encoded := range map[string]string{
		"base64":                         url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(text))),
		"base64 with + as it is":         base64.StdEncoding.EncodeToString([]byte(text)),
		"base64 without =":               url.QueryEscape(base64.RawStdEncoding.EncodeToString([]byte(text))),
		"base64url":                      base64.URLEncoding.EncodeToString([]byte(text)),
		"base64url without =":            base64.RawURLEncoding.EncodeToString([]byte(text)),
		"with white space around":        base64.RawURLEncoding.EncodeToString([]byte(" \n" + text + "\t")),
		"and other parameters around it": base64.RawURLEncoding.EncodeToString([]byte(text)) + "&x=y",
	} {
		if got := asked(t, m, reader, "", "?config="+encoded).Client.Config; !maps.Equal(got, want) {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestConfigsThatAreRefused(t *testing.T) {
	b64 := func(text string) string { return "?config=" + base64.RawURLEncoding.EncodeToString([]byte(text)) }
	none := []string(nil)
	for _, tt := range []struct {
		name, query string
		keys        []string
		want        string
	}{
		{"off", b64(`{"KEY":"hidden"}`), none, "?config= with the key KEY is not accepted"},
		{"another key", b64(`{"KEY":"hidden","PATH":"hidden"}`), []string{"KEY"}, "cannot have the key PATH"},
		{"in other letters", b64(`{"key":"hidden"}`), []string{"KEY"}, "cannot have the key key"},
		{"a key that is no text for a terminal", b64(`{"\u001b[2J":"hidden"}`), []string{"KEY"}, "cannot have the key  [2J:"},
		{"a line break", b64(`{"KEY":"hidden\r\nX-Other: 1"}`), []string{"KEY"}, "the value of KEY in ?config= holds control characters"},
		{"a NUL", b64(`{"KEY":"hidden\u0000"}`), []string{"KEY"}, "the value of KEY"},
		{"no base64", "?config={}", []string{"KEY"}, "not base64"},
		{"no UTF-8", b64("{\"KEY\":\"hidden\xff\"}"), []string{"KEY"}, "not base64"},
		{"no object", b64(`["hidden"]`), []string{"KEY"}, "an object"},
		{"a number", b64(`{"KEY":1}`), []string{"KEY"}, "an object"},
		{"an object within", b64(`{"KEY":{"hidden":"x"}}`), []string{"KEY"}, "an object"},
		{"a key twice", b64(`{"KEY":"hidden","KEY":"x"}`), []string{"KEY"}, "an object"},
		{"something behind it", b64(`{"KEY":"hidden"}{}`), []string{"KEY"}, "an object"},
		{"cut off", b64(`{"KEY":"hidden"`), []string{"KEY"}, "an object"},
		{"nothing", "?config=", []string{"KEY"}, "an object"},
		{"twice", b64(`{"KEY":"hidden"}`) + "&config=e30", []string{"KEY"}, "twice"},
		{"a query that is none", b64(`{"KEY":"hidden"}`) + "&%", []string{"KEY"}, "the query"},
		{"too long", b64(`{"KEY":"` + strings.Repeat("hidden", 3000) + `"}`), []string{"KEY"}, "longer than"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := New(Options{ConfigKeys: tt.keys})
			r, err := ask(t, m, reader, "", tt.query)
			denial, ok := errors.AsType[*presence.Denial](err)
			switch {
			case !ok || denial.Status != 400:
				t.Fatalf("got %+v, %v", r, err)
			case !strings.Contains(denial.Text, strings.ReplaceAll(tt.want, "an object", "a JSON object")):
				t.Errorf("got %s, want %s", denial.Text, tt.want)
			case strings.Contains(denial.Text, "hidden"):
				t.Errorf("it shows the value: %s", denial.Text)
			}
		})
	}
}

// Toolception's third invariant: in the static mode the session's context is ignored.
func TestWhereAllHaveTheSameConfigDoesNotCount(t *testing.T) {
	const query = "?config=not-even-base64!"
	for name, o := range map[string]Options{"static": {Static: true}, "permissions": {Permissions: &Permissions{}}} {
		var noted []string
		o.ConfigKeys, o.Note = []string{"KEY"}, func(text string) { noted = append(noted, text) }
		m := New(o)
		for range 2 {
			if c := asked(t, m, reader, "", query); c.Client.Config != nil || c.View != asked(t, m, reader, "", "").View {
				t.Errorf("%s: got %+v", name, c)
			}
		}
		if len(noted) != 1 {
			t.Errorf("%s: noted %q, want one line", name, noted)
		}
	}
}

func FuzzConfig(f *testing.F) {
	for _, seed := range []string{"e30", "eyJBIjoiMSJ9", "eyJBIjoiMSIsIkEiOiIyIn0=", "%", "", "e30e30", "W10", "eyJBIjp7fX0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		members, err := parseConfig(text)
		if _, ok := errors.AsType[*presence.Denial](err); err != nil && !ok || err != nil && members != nil {
			t.Errorf("got %v, %v", members, err)
		}
		if err == nil && len(text) > maxConfig {
			t.Error("too long")
		}
	})
}
