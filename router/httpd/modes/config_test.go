package modes

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
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

func TestValuesOfConfigs(t *testing.T) {
	m := New(Options{ConfigKeys: []string{"A"}})
	for value, want := range map[string]string{
		`"x"`: "x", `""`: "", `true`: "true", `false`: "false", `1`: "1", `-1.50e3`: "-1.50e3",
		`{"b": [1, "two"],` + "\n" + `"c": null}`: `{"b":[1,"two"],"c":null}`, `[ ]`: `[]`,
	} {
		c := asked(t, m, reader, "", "?config="+base64.RawURLEncoding.EncodeToString([]byte(`{"A":`+value+`}`)))
		if got, ok := c.Client.Config["A"]; got != want || !ok || c.Dropped != nil {
			t.Errorf("%s is %q, %t, without %q", value, got, ok, c.Dropped)
		}
	}
	c := asked(t, m, reader, "", "?config="+base64.RawURLEncoding.EncodeToString([]byte(`{"A":null}`)))
	if c.Client.Config != nil || c.Dropped != nil || c.View != asked(t, m, reader, "", "").View {
		t.Errorf("null is no value, and nothing that is wrong: %+v", c)
	}
}

// Toolception's fourth invariant: what is wrong is left out, and no error. With strict_config it
// is.
func TestWhatIsWrongInAConfig(t *testing.T) {
	b64 := func(text string) string { return "?config=" + base64.RawURLEncoding.EncodeToString([]byte(text)) }
	none := []string(nil)
	rest := map[string]string{"REST": "r"}
	for _, tt := range []struct {
		name, query string
		keys        []string
		config      map[string]string // what counts
		want        string            // what is dropped
	}{
		{"off", b64(`{"KEY":"hidden"}`), none, nil, "the key KEY of ?config=: session_config_keys of [http] is empty"},
		{"another key", b64(`{"REST":"r","PATH":"hidden"}`), []string{"KEY", "REST"}, rest, "the key PATH of ?config=: session_config_keys of [http] does not have it"},
		{"in other letters", b64(`{"REST":"r","key":"hidden"}`), []string{"KEY", "REST"}, rest, "the key key of"},
		{"a key that is no text for a terminal", b64(`{"\u001b[2J":"hidden","REST":"r"}`), []string{"REST"}, rest, "the key  [2J of"},
		{"a line break", b64(`{"KEY":"hidden\r\nX-Other: 1","REST":"r"}`), []string{"KEY", "REST"}, rest, "the value of KEY in ?config=, which holds control characters"},
		{"a NUL", b64(`{"KEY":"hidden\u0000","REST":"r"}`), []string{"KEY", "REST"}, rest, "the value of KEY"},
		{"a control within an object", b64("{\"KEY\":{\"hidden\":\"\u0085\"},\"REST\":\"r\"}"), []string{"KEY", "REST"}, rest, "the value of KEY"},
		{"a key twice", b64(`{"KEY":"hidden","REST":"r","KEY":"x"}`), []string{"KEY", "REST"}, rest, "the key KEY of ?config=, which is there twice"},
		{"a key three times, first without a value", b64(`{"KEY":null,"KEY":"hidden","REST":"r","KEY":"x"}`), []string{"KEY", "REST"}, rest, "the key KEY of ?config=, which is there twice"},
		{"no base64", "?config={}", []string{"KEY"}, nil, "all of ?config=: it must be base64 of a JSON object, and this is not base64"},
		{"no UTF-8", b64("{\"KEY\":\"hidden\xff\"}"), []string{"KEY"}, nil, "not base64"},
		{"no object", b64(`["hidden"]`), []string{"KEY"}, nil, "not a JSON object"},
		{"something behind it", b64(`{"KEY":"hidden"}{}`), []string{"KEY"}, nil, "not a JSON object"},
		{"cut off", b64(`{"KEY":"hidden"`), []string{"KEY"}, nil, "not a JSON object"},
		{"nothing", "?config=", []string{"KEY"}, nil, "not a JSON object"},
		{"twice", b64(`{"KEY":"hidden"}`) + "&config=e30", []string{"KEY"}, nil, "all of ?config=: the query of the URL is malformed, or has config twice"},
		{"a query that is none", b64(`{"KEY":"hidden"}`) + "&%", []string{"KEY"}, nil, "all of ?config=: the query"},
		{"too long", b64(`{"KEY":"` + strings.Repeat("hidden", 3000) + `"}`), []string{"KEY"}, nil, "all of ?config=: it is longer than 16384 characters"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := Options{ConfigKeys: tt.keys}
			c := asked(t, New(o), reader, "", tt.query)
			if !maps.Equal(c.Client.Config, tt.config) || (c.Client.Config == nil) != (tt.config == nil) || len(c.Dropped) != 1 || !strings.Contains(c.Dropped[0], tt.want) || strings.Contains(c.Dropped[0], "hidden") {
				t.Errorf("got %q, without %q", c.Client.Config, c.Dropped)
			}
			o.StrictConfig = true
			_, err := ask(t, New(o), reader, "", tt.query)
			if denial, ok := errors.AsType[*presence.Denial](err); !ok || denial.Status != 400 || denial.Text != "strict_config of [http] refuses "+c.Dropped[0] {
				t.Errorf("strictly: %v", err)
			}
		})
	}
}

func TestTheLogNamesAFewThingsThatAreDropped(t *testing.T) {
	many := map[string]string{}
	for i := range 100 {
		many[fmt.Sprint("K", i)] = "hidden"
	}
	text, err := json.Marshal(many)
	if err != nil {
		t.Fatal(err)
	}
	c := asked(t, New(Options{}), reader, "", "?config="+base64.RawURLEncoding.EncodeToString(text))
	if len(c.Dropped) != maxDropped+1 || c.Dropped[maxDropped] != "and more" {
		t.Errorf("dropped %q", c.Dropped)
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
	m := New(Options{ConfigKeys: []string{"A"}})
	f.Fuzz(func(t *testing.T, text string) {
		var c sessionConfig
		c.values = map[string]string{}
		c.parse(text)
		c.keep(m.check)
		if len(c.values) > 1 || len(c.dropped) > maxDropped+1 || len(text) > maxConfig && c.values != nil {
			t.Errorf("got %q, without %q", c.values, c.dropped)
		}
	})
}
