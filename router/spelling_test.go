package router

import (
	"testing"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/upstream"
)

func TestNamesInOtherSpellings(t *testing.T) {
	g := newRig(t, setup{active: []string{"*on*", "*two"}},
		offer{namespace: "gh", tools: []string{"on", "off", "two", "a b", "on:x"}, resources: []string{"r://on"}, templates: []string{"t-on://{x}"}, prompts: []string{"p"}},
		offer{namespace: "git", tools: []string{"two", "gh_on2", "gh_gone_on", "hub:on2", "mcp__hub__on2", "git_on"}},
		offer{tools: []string{"plain_on"}},
		offer{namespace: "ill", tools: []string{"ill_on", "solo_on"}},
	)
	g.named("hub", 0)
	for _, tt := range []struct {
		kind    mcpwire.Kind
		name    string
		leads   string
		verdict catalog.Verdict
	}{
		{mcpwire.Tool, "on", "gh on", catalog.Active},
		{mcpwire.Tool, "hub:on", "gh on", catalog.Active},
		{mcpwire.Tool, "mcp__hub__on", "gh on", catalog.Active},
		{mcpwire.Tool, "hub:a b", "gh a b", catalog.Inactive},
		{mcpwire.Tool, "gh:on", "", catalog.Unknown}, // its name is hub
		{mcpwire.Tool, "off", "gh off", catalog.Inactive},
		{mcpwire.Tool, "two", "gh two", catalog.Ambiguous},
		{mcpwire.Tool, "git:two", "git two", catalog.Active},
		{mcpwire.Tool, "On", "", catalog.Unknown},
		{mcpwire.Tool, "", "", catalog.Unknown},
		{mcpwire.Tool, "git_on", "git git_on", catalog.Active}, // nobody else has that namespace
		{mcpwire.Tool, "git:plain_on", "", catalog.Unknown},
		{mcpwire.Tool, "plain_on", "server 3 plain_on", catalog.Active},
		{mcpwire.Tool, "solo_on", "ill solo_on", catalog.Active},
		{mcpwire.Prompt, "p", "gh p", catalog.Active},
		{mcpwire.Prompt, "hub:p", "gh p", catalog.Active},
		{mcpwire.Prompt, "on", "", catalog.Unknown},
		{mcpwire.Resource, "hub:r://on", "gh r://on", catalog.Active},
		{mcpwire.Resource, "mcp__hub__t-on://{x}", "gh t-on://{x}", catalog.Active},
		// What looks like another server's is that server's alone, though it has no such tool.
		{mcpwire.Tool, "gh_on2", "", catalog.Unknown},
		{mcpwire.Tool, "gh_gone_on", "", catalog.Unknown},
		{mcpwire.Tool, "hub:on2", "", catalog.Unknown},
		{mcpwire.Tool, "mcp__hub__on2", "", catalog.Unknown},
		{mcpwire.Tool, catalog.ActivateTool, "", catalog.Unknown},
	} {
		got, verdict := g.view().FindAny(tt.kind, tt.name)
		leads := ""
		if got.Entry != nil {
			leads = got.Source.Namespace + " " + got.Name()
			if got.Source.Namespace == "" {
				leads = upstream.Of(got.Source).Name + " " + got.Name()
			}
		}
		if leads != tt.leads || verdict != tt.verdict {
			t.Errorf("%s %q leads to %q, %s; want %q, %s", tt.kind, tt.name, leads, verdict, tt.leads, tt.verdict)
		}
	}
}

// A server that is gone is not replaced by one whose own names look like its.
func TestAnotherSpellingIsNotInherited(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}}, offer{tools: []string{"pay"}}, offer{namespace: "evil", tools: []string{"pay"}})
	g.servers[0].dies()
	g.client.hears()
	if got, verdict := g.view().Find(mcpwire.Tool, []byte("pay")); verdict != catalog.Unknown {
		t.Errorf("leads to %s, %s", upstream.Of(got.Source).Name, verdict)
	}
}
