package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolman/router/policy"
)

const example = "../../../fixtures/example"

// exampleServers are the tools of the example's servers, by server.
func exampleServers(t *testing.T) map[string][]policy.Item {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(example, "servers.json"))
	if err != nil {
		t.Fatal(err)
	}
	var servers map[string]struct{ Read, Write []string }
	if err := json.Unmarshal(text, &servers); err != nil {
		t.Fatal(err)
	}
	items := map[string][]policy.Item{}
	for server, tools := range servers {
		for _, name := range tools.Read {
			items[server] = append(items[server], policy.Item{Name: name, Shown: server + "_" + name})
		}
		for _, name := range tools.Write {
			items[server] = append(items[server], policy.Item{Name: name, Shown: server + "_" + name, Effects: true})
		}
	}
	return items
}

// exampleTasks are one for each task rule, and none.
var exampleTasks = []Options{
	{},
	{Service: "users-api", Task: "add an endpoint"},
	{Service: "web-shop", Task: "a new button"},
	{Service: "core", Task: "Test the parser"},
	{Service: "core", Task: "analyse last year's orders"},
	{Service: "core", Task: "research what others do"},
	{Service: "core", Task: "deploy version 2"},
}

func TestTheExampleGivesEachAgentWhatItNeeds(t *testing.T) {
	servers := exampleServers(t)
	var got strings.Builder
	for _, agent := range []string{"", "claude-developer", "claude-researcher", "claude-analyst", "claude-automation", "claude-readonly"} {
		base := map[string][]string{}
		for _, o := range exampleTasks {
			o.Agent, o.LookupEnv = agent, environment
			fmt.Fprintf(&got, "agent %q, service %q, task %q\n", agent, o.Service, o.Task)
			for _, server := range slices.Sorted(maps.Keys(servers)) {
				names := allowed(t, o, server, servers[server])
				more := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(base[server], name) })
				if len(names)-len(more) != len(base[server]) {
					t.Errorf("%+v takes something of %s away", o, server)
				}
				if o.Task == "" {
					base[server] = names
				}
				if len(more) > 0 {
					fmt.Fprintf(&got, "  %s: %s\n", server, strings.Join(more, " "))
				}
			}
		}
	}
	golden := filepath.Join(example, "allowed.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || got.String() != string(want) {
		t.Errorf("not what %s has (%v); got\n%s", golden, err, got.String())
	}
}

// allowed are the tools of a server that the example allows.
func allowed(t *testing.T, o Options, server string, items []policy.Item) []string {
	t.Helper()
	c, err := Load(filepath.Join(example, "tools.toml"), o)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Rules.For(o.Agent)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i, v := range p.Judge(server, items) {
		if v.Allowed {
			names = append(names, items[i].Name)
		}
	}
	return names
}

// The document promises eight servers, fifty tools and five agents, and every
// name in the lists is one that a server has.
func TestTheExampleIsComplete(t *testing.T) {
	c, err := Load(filepath.Join(example, "tools.toml"), Options{LookupEnv: environment})
	if err != nil {
		t.Fatal(err)
	}
	servers := exampleServers(t)
	tools := 0
	for _, list := range c.Rules.Exposed {
		tools += len(list.Entries)
	}
	if len(c.Servers) != 8 || len(servers) != 8 || tools < 50 || len(c.Rules.Agents) != 5 {
		t.Errorf("%d servers, %d tools, %d agents", len(c.Servers), tools, len(c.Rules.Agents))
	}
	if filepath.Base(c.AuditLog) != "audit.jsonl" || c.AuditArguments {
		t.Errorf("the audit log is %q", c.AuditLog)
	}
	limits := map[string]int{"github": 8, "brave-search": 2, "puppeteer": 1, "postgresql": 4}
	for _, server := range c.Servers {
		if server.CallTimeout <= 0 || server.MaxCalls != limits[server.Name] {
			t.Errorf("server %s has the time %v and %d calls", server.Name, server.CallTimeout, server.MaxCalls)
		}
	}
	for server, list := range c.Rules.Exposed {
		for _, e := range list.Entries {
			if !slices.ContainsFunc(servers[server], func(it policy.Item) bool { return e.Matches(it.Name) }) {
				t.Errorf("line %d: server %s has no %s", e.Line, server, e.Text)
			}
		}
	}
}
