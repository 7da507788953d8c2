package policy

import (
	"fmt"
	"testing"
)

func TestDeclaredReadOnly(t *testing.T) {
	d, err := ReadOnlyRules{File: "tools.toml", Tools: map[string]List{
		"gh": {Entries: []Entry{{Text: "get_*", Line: 3}, {Text: "query", Line: 3}, {Text: "gh_list_*", Line: 4}}},
		"":   {Entries: []Entry{{Text: "*", Line: 9}}},
	}}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		server, tool string
		want         bool
	}{
		{"gh", "get_issue", true}, {"gh", "query", true}, {"gh", "forget_it", false}, {"gh", "queryAll", false},
		{"gh", "list_issues", false}, // its name for clients is no name of its own
		{"other", "get_issue", false}, {"", "anything", true},
	} {
		if got := d.ReadOnly(tt.server, tt.tool); got != tt.want {
			t.Errorf("%s %s: %t", tt.server, tt.tool, got)
		}
	}
	items := []Item{{Name: "get_issue", Shown: "gh_get_issue"}, {Name: "list_issues", Shown: "gh_list_issues"}}
	if got := fmt.Sprint(d.Idle("gh", items)); got != `["query" (tools.toml:3) "gh_list_*" (tools.toml:4)]` {
		t.Errorf("idle: %s", got)
	}
	var none *Declared
	if none.ReadOnly("gh", "get_issue") || none.Idle("gh", items) != nil {
		t.Error("nothing is declared")
	}
	if none, err = (ReadOnlyRules{}).Compile(); none != nil || err != nil {
		t.Errorf("without rules: %v, %v", none, err)
	}
}
