package resolve

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/config/reference"
	"toolman/router/policy"
)

const fixtures = "../../../fixtures"

// environment is the environment of every test here.
func environment(name string) (string, bool) {
	v, ok := map[string]string{"HOME": "/home/me", "TOKEN": "token-secret"}[name]
	return v, ok
}

// A pair is a configuration that was loaded for an agent, service and task, and what was resolved
// from it, loaded without them.
type pair struct {
	original, resolved *config.Config
	text               string
}

// resolvePair resolves the file at path. The result is beside it, because it has the same relative
// paths.
func resolvePair(t *testing.T, path, format string, o config.Options) pair {
	t.Helper()
	o.HTTP, o.LookupEnv = true, environment
	original, err := config.Load(path, o)
	if err != nil {
		t.Fatal(err)
	}
	text, err := File(path, o, format)
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "resolved."+format)
	if err := os.WriteFile(name, []byte(strings.ReplaceAll(string(text), "${file:", "${file:"+root+"/")), 0o600); err != nil {
		t.Fatal(err)
	}
	resolved, err := config.Load(name, config.Options{HTTP: true, LookupEnv: environment})
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	relocate(resolved, filepath.Dir(name), root)
	return pair{original, resolved, string(text)}
}

// relocate replaces the folder of a configuration.
func relocate(c *config.Config, from, to string) {
	move := func(path *string) { *path = strings.Replace(*path, from, to, 1) }
	move(&c.AuditLog)
	move(&c.HTTP.TLSCert)
	if c.Cluster != nil {
		move(&c.Cluster.EngineCA)
	}
	for i := range c.Servers {
		s := &c.Servers[i]
		move(&s.Dir)
		move(&s.Socket)
		if s.Remote != nil {
			move(&s.Remote.CAFile)
			if s.Remote.OAuth != nil {
				move(&s.Remote.OAuth.TokenFile)
			}
		}
	}
}

// items are what every server of the random configurations has.
var items = []policy.Item{
	{Name: "get_file", Full: "x_get_file"}, {Name: "get_issue", Full: "x_get_issue"}, {Name: "list", Full: "x_list"}, {Name: "x", Full: "x_x"},
	{Name: "write_file", Full: "x_write_file", Effects: true}, {Name: "delete", Full: "x_delete", Effects: true}, {Name: "file:///docs/a", Full: "x_file:///docs/a"},
}

// of returns the items of a server.
func of(s config.Server) []policy.Item {
	all := slices.Clone(items)
	for i := range all {
		all[i].Shown = s.Namespace + "_" + all[i].Name
		all[i].Full = all[i].Shown
	}
	return all
}

// check compares what the two configurations grant.
func (p pair) check(t *testing.T) {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("agent %q: %s\nfrom\n%s", p.original.Agent, fmt.Sprintf(format, args...), p.text)
	}
	before, err := p.original.Rules.For(p.original.Agent)
	if err != nil {
		t.Fatal(err)
	}
	after, err := p.resolved.Rules.For(p.resolved.Agent)
	if err != nil {
		t.Fatal(err)
	}
	left := p.resolved.Servers
	for _, s := range p.original.Servers {
		was := before.Judge(s.Name, of(s))
		if len(left) == 0 || left[0].Name != s.Name || left[0].Namespace != s.Namespace || left[0].Command != s.Command {
			if slices.ContainsFunc(was, func(v policy.Verdict) bool { return v.Allowed }) && s.Enabled {
				fail("server %q is missing", s.Name)
			}
			continue
		}
		is := after.Judge(s.Name, of(s))
		for i := range was {
			if was[i].Allowed != is[i].Allowed || was[i].Step != is[i].Step || unplacedRules(was[i].Conditions()) != unplacedRules(is[i].Conditions()) {
				fail("%s of %s: was %v (%v), is %v (%v)", items[i].Name, s.Name, was[i].Allowed, was[i], is[i].Allowed, is[i])
			}
		}
		if p.original.Agent != "" && (!before.Opens(s.Name) || !s.Enabled) {
			fail("server %q is not needed", s.Name)
		}
		checkServer(t, s, left[0])
		left = left[1:]
	}
	if len(left) > 0 {
		fail("%d servers that the original does not have", len(left))
	}
	was, is := *p.original, *p.resolved
	if was.Agent != is.Agent || was.Agent != "" && len(is.Rules.Agents) != 1 {
		fail("the agent is %q", is.Agent)
	}
	for _, c := range []*config.Config{&was, &is} {
		c.Path, c.Beside = "", ""
		c.Secrets, c.Warnings, c.Servers, c.Rules, c.WithholdEnv = nil, nil, nil, nil, nil
		c.ActiveToolsets = unplaced(c.ActiveToolsets)
		c.Toolsets = slices.Clone(c.Toolsets)
		for i := range c.Toolsets {
			c.Toolsets[i].Line = 0
		}
		if c.Cluster != nil {
			of := *c.Cluster
			of.Line, c.Cluster = 0, &of
		}
		c.HTTP.Tokens = append([]config.Token(nil), c.HTTP.Tokens...)
		for i := range c.HTTP.Tokens {
			c.HTTP.Tokens[i].Line = 0
		}
		slices.SortFunc(c.HTTP.Tokens, func(a, b config.Token) int {
			return strings.Compare(a.Agent+string(a.Hash[:]), b.Agent+string(b.Hash[:]))
		})
		if c.Dangers != nil {
			c.Dangers = &policy.DangerRules{Confirm: c.Dangers.Confirm, Tools: unlined(c.Dangers.Tools)}
		}
		for _, readers := range []*[]string{&c.HTTP.LogReaders, &c.HTTP.MetricsReaders} {
			if mayRead := slices.Contains(*readers, was.Agent); was.Agent != "" { // other agents cannot connect
				*readers = []string{fmt.Sprint(mayRead)}
			}
		}
	}
	if !reflect.DeepEqual(was, is) {
		fail("got\n%+v\nwant\n%+v", is, was)
	}
}

func unplaced(all []config.Active) (out []config.Active) {
	for _, a := range all {
		if a := (config.Active{Pattern: a.Pattern, Toolset: a.Toolset}); !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// unplacedRules returns conditions without the places of their rules, and the agents that they are
// inherited from.
func unplacedRules(c *policy.Conditions) string {
	if c == nil {
		return ""
	}
	return regexp.MustCompile(`\([a-z]+\.[a-z]+:[0-9]+\)|agent_policies\.[a-z]+`).ReplaceAllString(c.String(), "")
}

func unlined(all []policy.Entry) (out []policy.Entry) {
	for _, e := range all {
		out = append(out, policy.Entry{Text: e.Text})
	}
	return out
}

// checkServer compares a server of the original with that of the result: its limits, how it is
// reached, and what it inherits.
func checkServer(t *testing.T, was, is config.Server) {
	t.Helper()
	for _, name := range []string{"PATH", "HOME", "TOKEN", "A_KEY", "B_KEY", "C_KEY", "NOT_SET_ANYWHERE", "ROOT", "PLAIN", "HELD"} {
		if was.Inherits(name) != is.Inherits(name) {
			t.Errorf("server %s inherits %s: was %v, is %v", was.Name, name, was.Inherits(name), is.Inherits(name))
		}
	}
	for _, s := range []*config.Server{&was, &is} {
		s.Line, s.MaxCallsLine, s.Referred = 0, 0, nil
		s.ReadOnlyTools = slices.Clone(s.ReadOnlyTools)
		for i := range s.ReadOnlyTools {
			s.ReadOnlyTools[i].Line = 0
		}
		s.Env = slices.Sorted(slices.Values(s.Env))
	}
	if !reflect.DeepEqual(was, is) {
		t.Errorf("got the server\n%+v\nwant\n%+v", is, was)
	}
}

func TestAResolvedConfigurationGrantsWhatTheAgentHas(t *testing.T) {
	for _, file := range []string{"config/every-key.toml", "config/every-key.json", "example/tools.toml", "config/smallest.toml", "config/by-name.toml", "config/by-name.json", "config/same-namespace.toml"} {
		agents := []string{""}
		switch filepath.Dir(file) + filepath.Base(file)[:5] {
		case "configevery":
			agents = []string{"", "reader", "other one"}
		case "exampletools":
			agents = []string{"", "claude-developer", "claude-researcher", "claude-analyst", "claude-automation", "claude-readonly"}
		}
		for _, agent := range agents {
			for _, o := range []config.Options{{}, {Service: "api", Task: "test it"}, {Service: "web", Task: "test and deploy the frontend"}} {
				for _, format := range []string{"toml", "json"} {
					o.Agent = agent
					p := resolvePair(t, filepath.Join(fixtures, file), format, o)
					if strings.Contains(p.text, "token-secret") || strings.Contains(p.text, "task_rules") {
						t.Errorf("%s: a secret, or a task rule, in\n%s", file, p.text)
					}
					p.check(t)
				}
			}
		}
	}
}

func TestOnlyTheServersThatAnAgentNeedsAreLeft(t *testing.T) {
	p := resolvePair(t, filepath.Join(fixtures, "example/tools.toml"), "toml", config.Options{Agent: "claude-researcher"})
	var names []string
	for _, s := range p.resolved.Servers {
		names = append(names, s.Name)
	}
	if want := []string{"filesystem", "brave-search", "memory"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	if want := []string{"DATABASE_URL", "GITHUB_PERSONAL_ACCESS_TOKEN"}; !slices.Equal(p.resolved.WithholdEnv, want) {
		t.Errorf("withheld are %q, want %q", p.resolved.WithholdEnv, want)
	}
}

func TestRandomPoliciesAreResolved(t *testing.T) {
	rounds := 150
	if testing.Short() {
		rounds = 60
	}
	for seed := range rounds {
		r := random{rand.New(rand.NewPCG(1, uint64(seed)))}
		path := filepath.Join(t.TempDir(), "tools.toml")
		if err := os.WriteFile(path, []byte(r.file()), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, agent := range []string{"", "one", "two", "three"} {
			resolvePair(t, path, "toml", config.Options{Agent: agent, Service: r.one("api", "web"), Task: r.one("test it", "deploy it")}).check(t)
		}
		if t.Failed() {
			text, _ := os.ReadFile(path)
			t.Fatalf("with seed %d:\n%s", seed, text)
		}
	}
}

// A random makes configurations.
type random struct{ *rand.Rand }

func (r random) one(of ...string) string { return of[r.IntN(len(of))] }

// some returns an array of some of these texts.
func (r random) some(of ...string) string {
	var all []string
	for range r.IntN(4) {
		all = append(all, fmt.Sprintf("%q", r.one(of...)))
	}
	return "[" + strings.Join(all, ", ") + "]"
}

func (r random) names() string {
	return r.some("get_*", "*", "write_file", "list", "a_delete", "b:get_file", "mcp__c__x", "file:///docs/*", "x_*", "g{et_file,et_issue}")
}

// lists returns lists for some servers.
func (r random) lists() string {
	var out strings.Builder
	for _, server := range []string{"a", "b", "c", "d"} {
		if r.IntN(3) == 0 {
			fmt.Fprintf(&out, "%s = %s\n", server, r.names())
		}
	}
	return out.String()
}

func (r random) file() string {
	var out strings.Builder
	add := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	if r.IntN(3) > 0 {
		add("active_toolsets = %s", r.some("a_*", "*", "toolset:set", "b_x"))
	}
	add(`dangerous_tools = %s`, r.some("a_delete", "*_write_file", "d:delete", "*"))
	if r.IntN(2) == 0 {
		add(`withhold_env = ["HELD"]`)
	}
	add("[toolsets.set]\ntools = [\"c_*\"]")
	for i, name := range []string{"a", "b", "c", "d"} {
		add("[[servers]]\nnamespace = %q\ncommand = \"server %d\"", name, i)
		add("max_concurrent_calls = %d\ncall_timeout = %d", r.IntN(5), 1+r.IntN(5))
		add("env = { KEY = \"%s\" }", r.one("${A_KEY:-}", "${B_KEY:-}", "${C_KEY:-}", "none"))
		if r.IntN(6) == 0 {
			add("enabled = false")
		}
		if r.IntN(4) == 0 {
			add(`inherit_env = %s`, r.some("PATH", "*_KEY", "B_KEY"))
		}
	}
	add("[exposed_tools]\n%s", r.lists())
	for _, agent := range []string{"one", "two", "three"} {
		r.agent(&out, agent)
	}
	if r.IntN(2) == 0 {
		add("[default_policy]\nallow_unknown_tools = %s", r.one("true", "false"))
	}
	for range r.IntN(3) {
		add("[[task_rules]]\nkeywords = [%q]\nactive_toolsets = %s\n[task_rules.tools]\n%s", r.one("test", "deploy"), r.some("a_x", "toolset:set"), r.lists())
	}
	add("[http]\nlog_readers = %s", r.some("one", "two"))
	add("[http.tokens]\none = \"sha256:%064d\"\ntwo = \"${A_KEY:-long-enough-for-a-token}\"", 1)
	return out.String()
}

// agent writes the policy of an agent.
func (r random) agent(out *strings.Builder, name string) {
	fmt.Fprintf(out, "[agent_policies.%s]\nallowed_servers = %s\n", name, r.some("a", "b", "c", "*", "[ad]"))
	if bases := map[string][]string{"two": {"one"}, "three": {"two", "one"}}[name]; bases != nil && r.IntN(2) == 0 {
		fmt.Fprintf(out, "inherits = %s\n", r.some(bases...))
	}
	if r.IntN(2) == 0 {
		fmt.Fprintf(out, "deny = [%q, { tool = %q, where = { path = %s, \"o.n\" = [1, true, 2.5] } }]\n",
			r.one("get_*", "a:list", "delete", "b_*"), r.one("*", "write_file", "c:*"), r.one(`"/etc/*"`, `["a", "b"]`, `{ in = "x" }`))
	}
	if r.IntN(3) == 0 {
		fmt.Fprintf(out, "read_only = %s\n", r.one("true", "false"))
	}
	fmt.Fprintf(out, "[agent_policies.%s.tool_overrides]\n%s", name, r.lists())
}

func TestResolveSaysWhatIsWrong(t *testing.T) {
	o := config.Options{LookupEnv: environment}
	if _, err := File(filepath.Join(fixtures, "config/policies.json"), o, "toml"); err == nil || !strings.Contains(err.Error(), "policies.json:") {
		t.Errorf("got %v", err)
	}
	if _, err := File(filepath.Join(t.TempDir(), "none.toml"), o, "toml"); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v", err)
	}
	null := filepath.Join(t.TempDir(), "null.json")
	if err := os.WriteFile(null, []byte(`{"$schema": null}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := File(null, o, "toml"); err != nil || strings.Contains(string(text), "schema") {
		t.Errorf("got %q, %v", text, err)
	}
}

// A toolset stays a toolset, so that it is reported as active and can be disabled.
func TestResolvedPatternsStandOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.toml")
	if err := os.WriteFile(path, []byte("active_toolsets = [\"toolset:a\", \"x*\", \"x*\"]\n[toolsets.a]\ntools = [\"x*\", \"y\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := File(path, config.Options{LookupEnv: environment}, "toml")
	if err != nil || !strings.HasPrefix(string(text), "active_toolsets = [\"toolset:a\", \"x*\"]\n") {
		t.Errorf("got %s, %v", text, err)
	}
}

// Without active_toolsets, a task rule adds to what other keys make active.
func TestATaskRuleAddsToEverything(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.toml")
	const text = "[exposed_tools]\ns = [\"t\"]\n[[task_rules]]\nkeywords = [\"test\"]\nactive_toolsets = [\"s_t\"]\n[[servers]]\nnamespace = \"s\"\ncommand = \"x\"\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := File(path, config.Options{LookupEnv: environment, Task: "test it"}, "toml")
	if err != nil || !strings.HasPrefix(string(got), "active_toolsets = [\"*\", \"s_t\"]\n") {
		t.Errorf("%v in\n%s", err, got)
	}
}

// The references of what is removed stay withheld from the servers that are left.
func TestVariablesOfRemovedTokensAreWithheld(t *testing.T) {
	p := resolvePair(t, filepath.Join(fixtures, "config/every-key.toml"), "toml", config.Options{Agent: "other one"})
	if want := slices.Sorted(maps.Keys(reference.Variables{"DEPLOY_KEY": true, "NOT_SET_ANYWHERE": true, "TOKEN": true})); !slices.Equal(p.resolved.WithholdEnv, want) {
		t.Errorf("got %q, want %q", p.resolved.WithholdEnv, want)
	}
}

// Default toolsets of servers that are left out are named nowhere.
func TestDefaultToolsetsOfOtherServersAreRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tools.toml")
	text := `default_toolsets = true
active_toolsets = ["toolset:github", "toolset:filesystem", "toolset:own"]
[toolsets.own]
tools = ["github_get*"]
[default_policy]
allow_unknown_tools = true
[agent_policies.reader]
allowed_servers = ["github"]
[http.tokens]
reader = "${A_KEY:-long-enough-for-a-token}"
[http.permissions.agents]
reader = ["filesystem", "github"]
[[servers]]
namespace = "github"
command = "x"
[[servers]]
namespace = "filesystem"
command = "x"
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := resolvePair(t, path, "toml", config.Options{Agent: "reader"})
	var active []string
	for _, a := range p.resolved.ActiveToolsets {
		active = append(active, a.Toolset)
	}
	if !slices.Equal(active, []string{"github", "own"}) || strings.Contains(p.text, "filesystem") {
		t.Errorf("active is %q in\n%s", active, p.text)
	}
}
