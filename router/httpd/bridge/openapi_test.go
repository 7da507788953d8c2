package bridge

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

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
	text := string(page())
	for _, want := range []string{`id="callTool"`, `href="#listLogs"`, "invalid_arguments", `&#34;correlation_id&#34;`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
	for _, foreign := range []string{"<script", "src=", "%!", "%s", "http://", "https://"} {
		if strings.Contains(text, foreign) {
			t.Errorf("the page has %s", foreign)
		}
	}
}
