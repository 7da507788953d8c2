package metatool

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestTheDefinitionOfToolmanCallIsValid(t *testing.T) {
	var d struct {
		Name, Description string
		InputSchema       struct {
			Properties map[string]struct{ Type string }
			Required   []string
		}
	}
	if err := json.Unmarshal(callToolDefinition(false), &d); err != nil {
		t.Fatal(err)
	}
	p := d.InputSchema.Properties
	if d.Name != CallTool || d.Description == "" || p["name"].Type != "string" || p["arguments"].Type != "object" {
		t.Errorf("got %+v", d)
	}
	if !slices.Equal(d.InputSchema.Required, []string{"name"}) {
		t.Errorf("required are %q", d.InputSchema.Required)
	}
}
