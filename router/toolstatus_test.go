package router

import (
	"encoding/json"
	"strings"
	"testing"

	"toolman/router/client"
	"toolman/router/policy"
	"toolman/router/toolset"
)

func TestToolStatusIsWhatToolceptionSays(t *testing.T) {
	equipped := fixed(t, "ab", "ns_a", "ns_b")
	sets := []toolset.Set{equipped, fixed(t, "none", "ns_gone")}
	for _, tt := range []struct {
		name string
		o    Options
		want string
	}{
		{"no toolsets", Options{},
			`{"availableToolsets":[],"activeToolsets":[],"registeredModules":[],"totalToolsets":0,"activeCount":0,"tools":["ns_on"],"toolsetToTools":{}}`},
		{"one equipped", Options{Toolsets: sets[:1], Equipped: &equipped},
			`{"availableToolsets":["ab"],"activeToolsets":["ab"],"registeredModules":[],"totalToolsets":1,"activeCount":1,"tools":["ns_a","ns_b"],"toolsetToTools":{"ab":["ns_a","ns_b"]}}`},
		{"none equipped, and one that is empty", Options{Toolsets: sets},
			`{"availableToolsets":["ab","none"],"activeToolsets":[],"registeredModules":[],"totalToolsets":2,"activeCount":0,"tools":["ns_on"],` +
				`"toolsetToTools":{"ab":["ns_a","ns_b"],"none":[]},"warnings":["toolset none: 1 tool is not there"]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := newRig(t, setup{active: []string{"ns_on"}, Options: tt.o}, offer{namespace: "ns", tools: []string{"on", "a", "b"}})
			got, err := json.Marshal(g.r.ToolStatus(client.Info{}))
			if err != nil || string(got) != tt.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, got, tt.want)
			}
		})
	}
}

func TestToolStatusHidesWhatThePolicyDenies(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}, Options: Options{Toolsets: []toolset.Set{fixed(t, "ab", "ns_a", "ns_b")}}},
		offer{namespace: "ns", tools: []string{"a", "b"}})
	rules := &policy.Rules{Exposed: map[string]policy.List{"ns": {Entries: []policy.Entry{{Text: "a"}}}}}
	p, err := rules.For("")
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(g.r.ToolStatus(client.Info{Policy: p}))
	if err != nil || strings.Contains(strings.Split(string(got), `"warnings"`)[0], "ns_b") || !strings.Contains(string(got), `"tools":["ns_a"]`) {
		t.Errorf("%v, got %s", err, got)
	}
}

func TestToolStatusOfALimitedClientHasItsToolsetsAlone(t *testing.T) {
	g := newRig(t, setup{active: []string{"*"}, Options: Options{Toolsets: []toolset.Set{fixed(t, "a", "ns_a"), fixed(t, "b", "ns_b")}}},
		offer{namespace: "ns", tools: []string{"a", "b"}})
	for _, tt := range []struct {
		only []string
		want string
	}{
		{[]string{"a"}, `{"availableToolsets":["a"],"activeToolsets":["a"],"registeredModules":[],"totalToolsets":1,"activeCount":1,"tools":["ns_a"],"toolsetToTools":{"a":["ns_a"]}}`},
		{[]string{}, `{"availableToolsets":[],"activeToolsets":[],"registeredModules":[],"totalToolsets":0,"activeCount":0,"tools":[],"toolsetToTools":{}}`},
	} {
		got, err := json.Marshal(g.r.ToolStatus(client.Info{Only: tt.only}))
		if err != nil || string(got) != tt.want {
			t.Errorf("%v\ngot  %s\nwant %s", err, got, tt.want)
		}
	}
}
