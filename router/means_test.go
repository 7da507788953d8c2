package router

import (
	"strings"
	"testing"

	"toolman/router/client"
	"toolman/router/view"
)

func TestARefusalRefersTheClientOnlyToWhatItHas(t *testing.T) {
	const fixed = "nothing can be switched on or off: what is active is fixed by the configuration "
	all := view.MetaTools{Toolsets: true, Manage: true}
	for _, tt := range []struct {
		name             string
		mode             view.Mode
		who              client.Info
		inactive, nobody string // what is said of an inactive tool, and of one that nobody has
		misspelled       string // of toolman_activte
	}{
		{"everything", view.ModeMutate, client.Info{}, "call toolman_activate with ", "tools/list lists those there are", "similar names: toolman_activate"},
		{"toolsets only", view.ModeMutate, client.Info{MetaTools: &view.MetaTools{NoActivate: true, Toolsets: true}}, "call enable_toolset with ", "tools/list lists", "tools/list lists"},
		{"saved toolsets only", view.ModeMutate, client.Info{MetaTools: &view.MetaTools{NoActivate: true, Manage: true}}, "call equip-toolset with ", "tools/list lists", "tools/list lists"},
		{"a list only", view.ModeMutate, client.Info{MetaTools: &view.MetaTools{NoActivate: true, List: true}}, "nothing here can switch it on", "tools/list lists", "tools/list lists"},
		{"nothing in this mode", view.ModeStatic, client.Info{}, fixed + `(activation_mode = "static")`, "tools/list lists", "tools/list lists"},
		{"nothing for this client", view.ModeMutate, client.Info{Static: `http.mode = "static"`}, fixed + `(http.mode = "static")`, "tools/list lists", "tools/list lists"},
		{"another list", view.ModeMutate, client.Info{Static: "a_key", Lists: "GET /tools"}, fixed + "(a_key)", "GET /tools lists those there are", "GET /tools lists"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := library3(t, Options{Mode: tt.mode, MetaTools: all, Shelf: &shelf{}}).another(tt.who)
			for tool, want := range map[string]string{"ns_off": tt.inactive, "completely_different_thing": tt.nobody, "toolman_activte": tt.misspelled} {
				if answer := l.asks(callFrame("1", tool, "{}")); !strings.Contains(strings.ReplaceAll(answer, `\"`, `"`), want) {
					t.Errorf("%s: %s\nwant %s", tool, answer, want)
				}
			}
		})
	}
}
