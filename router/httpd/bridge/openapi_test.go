package bridge

import (
	"encoding/json"
	"fmt"
	"maps"
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
	if have := slices.Sorted(maps.Keys(statuses)); !slices.Equal(listed, have) {
		t.Errorf("described are %v, and there are %v", listed, have)
	}
	for code, status := range statuses {
		if r := d.Paths["/call_tool"]["post"].Responses[fmt.Sprint(status)]; !strings.Contains(r.Description, string(code)) {
			t.Errorf("%d of /call_tool is described as %q, without %s", status, r.Description, code)
		}
	}
	for _, path := range append(paths[:], "/tools") {
		if d.Paths[path] == nil {
			t.Errorf("%s is not described", path)
		}
	}
}

func TestThePageShowsAll(t *testing.T) {
	text, err := page()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"POST /call_tool", "GET /logs", "invalid_arguments", `&#34;correlation_id&#34;`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page does not have %s", want)
		}
	}
	for _, foreign := range []string{"<script", "src=", "http://", "https://"} {
		if strings.Contains(string(text), foreign) {
			t.Errorf("the page has %s", foreign)
		}
	}
}
