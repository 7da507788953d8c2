package router

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/upstream"
	"toolman/router/view"
)

// Roads are all the ways to an item.
type roads struct {
	t    *testing.T
	g    *rig
	w    *world
	what string

	listed  map[string]bool // kind and name
	catalog []string
}

// all takes every road to every item.
func (r *roads) all() {
	r.t.Helper()
	r.lists()
	r.told()
	for _, e := range r.g.everyEntry() {
		r.check(e)
	}
}

func (r *roads) lists() {
	r.listed, r.catalog = map[string]bool{}, nil
	for k := range mcpwire.Kind(mcpwire.Kinds) {
		key := [mcpwire.Kinds]string{"name", "uri", "uriTemplate", "name"}[k]
		for _, name := range r.g.names(k.Member(), key, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q}`, k.ListMethod())) {
			r.listed[k.String()+" "+name] = true
		}
	}
	for line := range strings.Lines(view.CatalogText(r.g.view())) {
		r.catalog = append(r.catalog, strings.TrimSuffix(line, "\n"))
	}
}

// told compares what toolman's own tools say with what is so.
func (r *roads) told() {
	r.t.Helper()
	var active, visible []string
	for _, e := range r.g.everyEntry() {
		verdict, _ := r.w.judges(r.g, e)
		if e.Item.Kind != mcpwire.Tool {
			continue
		}
		if verdict == catalog.Active {
			active = append(active, e.Name)
		}
		if verdict == catalog.Active || verdict == catalog.Inactive {
			visible = append(visible, e.Name)
		}
	}
	var list struct {
		Tools          []string
		ToolsetToTools map[string][]string
		ExposedTools   map[string][]struct{ NamespacedName string }
		ToolSummary    struct{ CurrentlyExposed, TotalDiscovered int }
	}
	for _, tool := range []string{"list_tools", "get-active-toolset"} {
		if err := json.Unmarshal([]byte(r.g.own(tool, "{}").structured), &list); err != nil {
			r.t.Fatal(err)
		}
	}
	checkList(r.t, r.what+": list_tools", list.Tools, active...)
	var exposed []string
	for _, tools := range list.ExposedTools {
		for _, tool := range tools {
			exposed = append(exposed, tool.NamespacedName)
		}
	}
	slices.Sort(exposed)
	checkList(r.t, r.what+": get-active-toolset", exposed, slices.Sorted(slices.Values(active))...)
	if s := list.ToolSummary; s.CurrentlyExposed != len(active) || s.TotalDiscovered != len(visible) {
		r.t.Errorf("%s: get-active-toolset counts %+v, want %d and %d", r.what, s, len(active), len(visible))
	}
	for _, name := range list.ToolsetToTools["more"] {
		if !slices.Contains(visible, name) {
			r.t.Errorf("%s: list_tools shows %s in a toolset", r.what, name)
		}
	}
}

// check takes every road to an entry.
func (r *roads) check(e *catalog.Entry) {
	r.t.Helper()
	k := e.Item.Kind
	verdict, _ := r.w.judges(r.g, e)
	if got := r.listed[k.String()+" "+e.Name]; got != (verdict == catalog.Active) {
		r.t.Errorf("%s: %s %s is listed: %t; it is %s", r.what, k, e.Name, got, verdict)
	}
	on, off := slices.Contains(r.catalog, "* "+e.Name), slices.Contains(r.catalog, e.Name)
	if k != mcpwire.Prompt && (on != (verdict == catalog.Active) || off != (verdict == catalog.Inactive)) {
		r.t.Errorf("%s: %s %s is in the catalog: marked %t, not marked %t; it is %s", r.what, k, e.Name, on, off, verdict)
	}
	server := e.Source.PolicyName
	names := []string{e.Name, server + ":" + e.Item.Name, "mcp__" + server + "__" + e.Item.Name}
	if r.owners(e) == 1 {
		names = append(names, e.Item.Name)
	}
	for _, name := range names {
		_, why := r.w.judgesBy(r.g, e, name)
		for what, frame := range requests(k, name) {
			r.try(what+" "+name, frame, e, why)
		}
	}
	if k == mcpwire.Template && e.Name != "a_bt://{id}" && e.Name != "b_bt://{id}" {
		uri := strings.NewReplacer("{id}", "7", "{+path}", "7").Replace(e.Name)
		_, why := r.w.judgesBy(r.g, e, uri)
		r.try("what it makes", requests(mcpwire.Resource, uri)["read"], e, why)
	}
}

// owners counts who has a name, or makes a URI.
func (r *roads) owners(e *catalog.Entry) (n int) {
	for _, other := range r.g.everyEntry() {
		if other.Item.Name == e.Item.Name || e.Item.Kind.IsURI() && other.Item.Kind == mcpwire.Template && other.MatchesURI(e.Item.Name, catalog.Strict) {
			n++
		}
	}
	return n
}

// requests are those that can be made about an item.
func requests(k mcpwire.Kind, name string) map[string]string {
	frame := func(method, params string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, fmt.Sprintf(params, name))
	}
	switch k {
	case mcpwire.Tool:
		return map[string]string{"call": frame("tools/call", `"name":%q`), "toolman_call": frame("tools/call", `"name":"toolman_call","arguments":{"name":%q}`)}
	case mcpwire.Prompt:
		return map[string]string{"get": frame("prompts/get", `"name":%q`), "complete": frame("completion/complete", `"ref":{"type":"ref/prompt","name":%q},"argument":{}`)}
	}
	return map[string]string{"read": frame("resources/read", `"uri":%q`), "subscribe": frame("resources/subscribe", `"uri":%q`),
		"complete": frame("completion/complete", `"ref":{"type":"ref/resource","uri":%q},"argument":{}`)}
}

// try makes a request that leads to an entry, or is refused for a reason.
func (r *roads) try(what, frame string, e *catalog.Entry, why string) {
	r.t.Helper()
	r.g.client.says(frame)
	answers := r.g.client.hears()
	for i, l := range r.g.servers {
		heard := l.hears()
		if want := why == "" && l.u == upstream.Of(e.Source); (len(heard) == 1) != want || want && !strings.Contains(heard[0], fmt.Sprintf("%q", e.Item.Name)) && what != "what it makes" {
			r.t.Errorf("%s: %s: server %d heard %q; refused: %q", r.what, what, i, heard, why)
		}
	}
	if why != "" && (len(answers) != 1 || !strings.Contains(answers[0], jsonText(why))) {
		r.t.Errorf("%s: %s: answered %q, want %s", r.what, what, answers, why)
	}
}

// jsonText is a text as it stands in a string of JSON.
func jsonText(text string) string { return strings.ReplaceAll(text, `"`, `\"`) }

// activated switches every item on: what may not be had stays as it is, and all else can be used
// from then on.
func (r *roads) activated() {
	r.t.Helper()
	for _, e := range r.g.everyEntry() {
		if e.Item.Kind == mcpwire.Prompt {
			continue
		}
		verdict, why := r.w.judges(r.g, e)
		kept, refusal := verdict == catalog.Denied || verdict == catalog.Held, why
		if !kept && r.w.rejects(e) {
			kept, refusal = true, e.Name+" cannot be switched on: toolset "
		}
		a := activation{resourcesOn: []string{e.Name}}
		road := requests(e.Item.Kind, e.Name)["read"]
		if e.Item.Kind == mcpwire.Tool {
			a = activation{toolsOn: []string{e.Name}}
			road = requests(e.Item.Kind, e.Name)["call"]
		}
		before := r.g.view()
		_, o := r.g.activate(a)
		if o.Success == kept || kept && (!strings.Contains(o.text(), refusal) || r.g.view() != before) {
			r.t.Errorf("%s: activating %s says %s, want %s", r.what, e.Name, o.text(), refusal)
		}
		if !kept {
			why = ""
		}
		r.try("use of what was switched on "+e.Name, road, e, why)
	}
}

// explained compares what explain says of each item with what is so, and with what a caller is
// told.
func (r *roads) explained() {
	r.t.Helper()
	for _, e := range r.g.everyEntry() {
		verdict, why := r.w.judges(r.g, e)
		all := r.g.r.Explain(e.Name)
		i := slices.IndexFunc(all, func(x Explanation) bool { return x.Kind == e.Item.Kind && x.Name == e.Name })
		if i < 0 {
			r.t.Errorf("%s: %s is not explained", r.what, e.Name)
			continue
		}
		x := all[i]
		visible := verdict == catalog.Active || verdict == catalog.Inactive
		if x.Server != e.Source.Name || x.Visible != visible || x.Active != (verdict == catalog.Active) || x.Callable != x.Active ||
			!strings.HasPrefix(x.Error, why) || (x.Error == "") != x.Callable || (x.Activity == "") == visible || !strings.Contains(x.Error, x.Activity) && !x.Active {
			r.t.Errorf("%s: %s %s is %s, explained as %+v", r.what, e.Item.Kind, e.Name, verdict, x)
		}
		if verdict == catalog.Held != strings.HasPrefix(x.Rule, "it is held back: ") || verdict == catalog.Denied && namesServer(e, e.Name) && !strings.Contains(x.Error, x.Rule) {
			r.t.Errorf("%s: the rule about %s is %q", r.what, e.Name, x.Rule)
		}
		for what, frame := range requests(e.Item.Kind, e.Name) {
			r.try(what+" as explained "+e.Name, frame, e, x.Error)
		}
	}
}
