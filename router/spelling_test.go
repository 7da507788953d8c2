package router

import (
	"testing"

	"toolman/mcpwire"
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
		verdict Verdict
	}{
		{mcpwire.Tool, "on", "gh on", Active},
		{mcpwire.Tool, "hub:on", "gh on", Active},
		{mcpwire.Tool, "mcp__hub__on", "gh on", Active},
		{mcpwire.Tool, "hub:a b", "gh a b", Inactive},
		{mcpwire.Tool, "gh:on", "", Unknown}, // its name is hub
		{mcpwire.Tool, "off", "gh off", Inactive},
		{mcpwire.Tool, "two", "gh two", Ambiguous},
		{mcpwire.Tool, "git:two", "git two", Active},
		{mcpwire.Tool, "On", "", Unknown},
		{mcpwire.Tool, "", "", Unknown},
		{mcpwire.Tool, "git_on", "git git_on", Active}, // nobody else has that namespace
		{mcpwire.Tool, "git:plain_on", "", Unknown},
		{mcpwire.Tool, "plain_on", "server 3 plain_on", Active},
		{mcpwire.Tool, "solo_on", "ill solo_on", Active},
		{mcpwire.Prompt, "p", "gh p", Active},
		{mcpwire.Prompt, "hub:p", "gh p", Active},
		{mcpwire.Prompt, "on", "", Unknown},
		{mcpwire.Resource, "hub:r://on", "gh r://on", Active},
		{mcpwire.Resource, "mcp__hub__t-on://{x}", "gh t-on://{x}", Active},
		// What looks like another server's is that server's alone, though it has no such tool.
		{mcpwire.Tool, "gh_on2", "", Unknown},
		{mcpwire.Tool, "gh_gone_on", "", Unknown},
		{mcpwire.Tool, "hub:on2", "", Unknown},
		{mcpwire.Tool, "mcp__hub__on2", "", Unknown},
		{mcpwire.Tool, ActivateTool, "", Unknown},
	} {
		got, verdict := g.view().findAny(tt.kind, tt.name)
		leads := ""
		if got.entry != nil {
			leads = got.source.Namespace + " " + got.name()
			if got.source.Namespace == "" {
				leads = upstreamOf(got.source).Name + " " + got.name()
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
	if got, verdict := g.view().find(mcpwire.Tool, []byte("pay")); verdict != Unknown {
		t.Errorf("leads to %s, %s", upstreamOf(got.source).Name, verdict)
	}
}
