package bridge

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"html/template"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A description is what docs.html shows of openapi.json.
type description struct {
	Info       struct{ Title, Description string }
	Paths      map[string]map[string]*operation
	Components struct{ Schemas map[string]json.RawMessage }
	Style      template.CSS
}

type operation struct {
	OperationID, Summary, Description string
	Parameters                        []struct {
		Name, In, Description string
		Schema                struct {
			Type    string
			Enum    []string
			Default json.RawMessage
		}
	}
	RequestBody struct{ Content map[string]media }
	Responses   map[string]struct {
		Description string
		Content     map[string]media
	}
	Path, Method string
}

type media struct{ Schema, Example json.RawMessage }

// Operations returns the requests in the order of their paths.
func (d *description) Operations() (all []*operation) {
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(d.Paths[path])) {
			op := d.Paths[path][method]
			op.Path, op.Method = path, method
			all = append(all, op)
		}
	}
	return all
}

func describe(t *testing.T) *description {
	t.Helper()
	d := new(description)
	if err := json.Unmarshal(OpenAPI(), d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTheDescriptionHasAllCodesWithTheirStatuses(t *testing.T) {
	d := describe(t)
	var failure struct {
		Properties struct{ Code struct{ Enum []Code } }
	}
	if err := json.Unmarshal(d.Components.Schemas["Failure"], &failure); err != nil {
		t.Fatal(err)
	}
	listed := failure.Properties.Code.Enum
	slices.Sort(listed)
	var have []Code
	for _, s := range statuses {
		have = append(have, s.code)
		if r := d.Paths["/call_tool"]["post"].Responses[fmt.Sprint(s.status)]; !strings.Contains(r.Description, string(s.code)) {
			t.Errorf("%d of /call_tool is described as %q, without %s", s.status, r.Description, s.code)
		}
	}
	if slices.Sort(have); !slices.Equal(listed, have) {
		t.Errorf("described are %v, and there are %v", listed, have)
	}
	for _, path := range paths {
		if d.Paths[path] == nil {
			t.Errorf("%s is not described", path)
		}
	}
}

var update = flag.Bool("update", false, "write docs.html")

// TestThePage compares docs.html with openapi.json and testdata; go generate writes it.
func TestThePage(t *testing.T) {
	d := describe(t)
	style, err := os.ReadFile("testdata/docs.css")
	if err != nil {
		t.Fatal(err)
	}
	d.Style = template.CSS(style)
	reference := regexp.MustCompile(`#/components/schemas/(\w+)`)
	page := template.Must(template.New("docs.tmpl").Funcs(template.FuncMap{
		"string": func(text json.RawMessage) string { return string(text) },
		"indent": func(text json.RawMessage) string {
			var out bytes.Buffer
			if err := json.Indent(&out, text, "", "  "); err != nil {
				t.Error(err)
			}
			return out.String()
		},
		"names": func(schema json.RawMessage) (names []string) {
			for _, found := range reference.FindAllSubmatch(schema, -1) {
				names = append(names, string(found[1]))
			}
			return names
		},
	}).ParseFiles("testdata/docs.tmpl"))
	var want bytes.Buffer
	if err := page.Execute(&want, d); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("docs.html", want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if docs != want.String() {
		t.Error("docs.html is not that of openapi.json and testdata; run go generate ./router/httpd/bridge")
	}
	for _, foreign := range []string{"<script", "src=", "%!", "%s", "http://", "https://", "ZgotmplZ"} {
		if strings.Contains(docs, foreign) {
			t.Errorf("the page has %s", foreign)
		}
	}
}
