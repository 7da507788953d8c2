package policy

import (
	"reflect"
	"testing"
)

func TestTaskRulesMatch(t *testing.T) {
	services := []Entry{{Text: "*-api", Line: 1}, {Text: "shop", Line: 2}}
	for _, tt := range []struct {
		name          string
		rule          TaskRule
		service, text string
		want          bool
	}{
		{"a service by its name", TaskRule{Services: services}, "shop", "", true},
		{"a service by a glob", TaskRule{Services: services}, "users-api", "", true},
		{"another service", TaskRule{Services: services}, "shop2", "test", false},
		{"no service", TaskRule{Services: services}, "", "", false},
		{"a keyword", TaskRule{Keywords: []string{"deploy", "test"}}, "", "please test it", true},
		{"the beginning of a word", TaskRule{Keywords: []string{"test"}}, "", "testing", true},
		{"upper case", TaskRule{Keywords: []string{"tEst"}}, "", "Unit-Tests", true},
		{"the rest of a word", TaskRule{Keywords: []string{"test"}}, "", "the latest and greatest", false},
		{"first the rest of a word, then a word", TaskRule{Keywords: []string{"test"}}, "", "the latest test", true},
		{"behind a letter of several bytes", TaskRule{Keywords: []string{"test"}}, "", "ütest", false},
		{"two words", TaskRule{Keywords: []string{"pull request"}}, "", "open a pull request", true},
		{"a keyword of no letters", TaskRule{Keywords: []string{""}}, "", "test", false},
		{"both", TaskRule{Services: services, Keywords: []string{"test"}}, "shop", "test", true},
		{"one of both", TaskRule{Services: services, Keywords: []string{"test"}}, "shop", "build", false},
		{"the other of both", TaskRule{Services: services, Keywords: []string{"test"}}, "web", "test", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.rule.Matches(tt.service, tt.text); got != tt.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestWhatTaskRulesAddTo(t *testing.T) {
	base := func(unknown bool) *Rules {
		return &Rules{Exposed: map[string]List{"e": listOf(1, "x")}, Default: Flag{On: unknown}, Agents: map[string]Agent{
			"a": {Servers: listOf(2, "e", "o", "n*"), Overrides: map[string]List{"o": listOf(3, "y")}},
			"b": {Servers: listOf(4, "*")},
		}}
	}
	add := func(server string) []TaskRule {
		return []TaskRule{{Tools: map[string]List{server: listOf(9, "z")}}, {Tools: map[string]List{server: listOf(10, "z", "x")}}}
	}
	for _, tt := range []struct {
		name, agent, server string
		unknown             bool
		exposed, overrides  List
	}{
		{name: "to the agent's own list", agent: "a", server: "o", overrides: List{3, []Entry{{Text: "y", Line: 3}, {Text: "z", Line: 9}, {Text: "x", Line: 10}}}},
		{name: "to a copy of what all have, for the agent", agent: "a", server: "e", exposed: listOf(1, "x"), overrides: List{1, []Entry{{Text: "x", Line: 1}, {Text: "z", Line: 9}}}},
		{name: "where there is no list and nothing is allowed", agent: "a", server: "new", overrides: List{9, []Entry{{Text: "z", Line: 9}, {Text: "x", Line: 10}}}},
		{name: "not where all is allowed without a list", agent: "a", server: "new", unknown: true},
		{name: "not to a server that is closed", agent: "a", server: "closed"},
		{name: "to an agent without lists", agent: "b", server: "o", overrides: List{9, []Entry{{Text: "z", Line: 9}, {Text: "x", Line: 10}}}},
		{name: "to what all have, without an agent", server: "e", exposed: List{1, []Entry{{Text: "x", Line: 1}, {Text: "z", Line: 9}}}},
		{name: "to a new list for all, without an agent", server: "new", exposed: List{9, []Entry{{Text: "z", Line: 9}, {Text: "x", Line: 10}}}},
		{name: "not for all where all is allowed", server: "new", unknown: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := base(tt.unknown)
			next := r.With(tt.agent, add(tt.server))
			if got := next.Exposed[tt.server]; !reflect.DeepEqual(got, tt.exposed) {
				t.Errorf("for all: got %v, want %v", got, tt.exposed)
			}
			if got := next.Agents[tt.agent].Overrides[tt.server]; !reflect.DeepEqual(got, tt.overrides) {
				t.Errorf("for the agent: got %v, want %v", got, tt.overrides)
			}
			if !reflect.DeepEqual(r, base(tt.unknown)) {
				t.Error("the rules themselves have changed")
			}
			if want := map[bool]int{true: 2, false: 1}[tt.agent == ""]; len(next.Agents) != want {
				t.Errorf("%d agents, want %d", len(next.Agents), want)
			}
		})
	}
}
