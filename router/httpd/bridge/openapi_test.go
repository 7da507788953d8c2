package bridge

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"html/template"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write page.html anew")

func TestTheDescriptionHasAllCodesWithTheirStatuses(t *testing.T) {
	var d struct {
		description
		Components struct {
			Schemas struct {
				Failure struct {
					Properties struct{ Code struct{ Enum []Code } }
				}
			}
		}
	}
	if err := json.Unmarshal(OpenAPI(), &d); err != nil {
		t.Fatal(err)
	}
	listed := d.Components.Schemas.Failure.Properties.Code.Enum
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

func TestThePageShowsAll(t *testing.T) {
	text := rendered(t)
	if *update {
		if err := os.WriteFile("page.html", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if text != string(page) {
		t.Error("page.html is not what docs.html and openapi.json make; -update writes it anew")
	}
	for _, want := range []string{`id="callTool"`, `href="#listLogs"`, "invalid_arguments", `&#34;correlation_id&#34;`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
	for _, foreign := range []string{"<script", "src=", "http://", "https://"} {
		if strings.Contains(text, foreign) {
			t.Errorf("the page has %s", foreign)
		}
	}
}

// A description is as much of the description as people are shown.
type description struct {
	Info       struct{ Title, Description string }
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]json.RawMessage }
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
}

type media struct{ Schema, Example json.RawMessage }

// Names are the schemas that the media's own refers to.
func (m media) Names() (names []string) {
	for _, found := range regexp.MustCompile(`#/components/schemas/(\w+)`).FindAllSubmatch(m.Schema, -1) {
		names = append(names, string(found[1]))
	}
	return names
}

// rendered is the page as docs.html and openapi.json make it.
func rendered(t *testing.T) string {
	var d description
	if err := json.Unmarshal(OpenAPI(), &d); err != nil {
		t.Fatal(err)
	}
	docs, err := template.New("docs.html").Funcs(template.FuncMap{"indent": indented, "text": func(raw json.RawMessage) string { return string(raw) }}).ParseFiles("docs.html")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := docs.Execute(&text, d); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func indented(text json.RawMessage) (string, error) {
	var out bytes.Buffer
	err := json.Indent(&out, text, "", "  ")
	return out.String(), err
}
