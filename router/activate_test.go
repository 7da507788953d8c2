package router

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolman/router/metatool"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/view"
)

// A report is what toolman says of something of its own.
type report struct {
	Success bool
	Result  *string
	Error   *string
	Tools   []json.RawMessage
}

// text is the result or the error, whichever there is.
func (o report) text() string {
	if o.Success {
		return *o.Result
	}
	return *o.Error
}

// reportOf reads a tool's answer of toolman's own, and checks its form.
func reportOf(t testing.TB, frame string) report {
	t.Helper()
	var reply struct {
		Result struct {
			Content           []struct{ Type, Text string }
			StructuredContent report
			IsError           bool
		}
	}
	var said report
	if err := json.Unmarshal([]byte(frame), &reply); err != nil || len(reply.Result.Content) == 0 {
		t.Fatalf("%v: %s", err, frame)
	}
	if err := json.Unmarshal([]byte(reply.Result.Content[0].Text), &said); err != nil {
		t.Fatalf("%v: %s", err, frame)
	}
	got := reply.Result.StructuredContent
	if got.Success == reply.Result.IsError || got.Success != (got.Result != nil) || got.Success == (got.Error != nil) ||
		said.Success != got.Success || said.text() != got.text() {
		t.Fatalf("not a proper report: %s", frame)
	}
	return got
}

// An activation is what a client asks toolman_activate for.
type activation struct{ toolsOn, toolsOff, resourcesOn, resourcesOff []string }

// frame is a call of toolman_activate as a client sends it.
func (a activation) frame(id string) string {
	full := func(list []string) []string { return append([]string{}, list...) }
	args, _ := json.Marshal(metatool.Arguments{ToolsOn: full(a.toolsOn), ToolsOff: full(a.toolsOff), ResourcesOn: full(a.resourcesOn), ResourcesOff: full(a.resourcesOff)})
	return callFrame(id, catalog.ActivateTool, string(args))
}

func callFrame(id, tool, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, args)
}

// activate calls toolman_activate, and returns the notifications that came before
// its answer.
func (g *rig) activate(a activation) (notified []string, o report) {
	g.t.Helper()
	g.client.says(a.frame(`"act"`))
	heard := g.client.hears()
	if len(heard) == 0 {
		g.t.Fatal("no answer")
	}
	last := len(heard) - 1
	if id := idOf(g.t, heard[last]); id != `"act"` {
		g.t.Fatalf("answered %s", id)
	}
	return methodsOf(g.t, heard[:last]), reportOf(g.t, heard[last])
}

const (
	toolsChanged     = string(mcpwire.ToolsListChanged)
	resourcesChanged = string(mcpwire.ResourcesListChanged)
	promptsChanged   = string(mcpwire.PromptsListChanged)
)

func switchable(t testing.TB) *rig {
	return newRig(t, setup{active: []string{"ns_on*"}}, offer{
		namespace: "ns",
		tools:     []string{"on1", `{"name":"off1","inputSchema":{"x":1.0}}`, `{ "name" : "off2" }`},
		resources: []string{"on://r", "off://r"},
		templates: []string{"off://{t}"},
		prompts:   []string{"p"},
	})
}

func TestActivate(t *testing.T) {
	for _, tt := range []struct {
		name     string
		a        activation
		notified []string
		says     string
		active   []string
		tools    []string // definitions in the answer
	}{
		{"a tool on", activation{toolsOn: []string{"ns_off1"}}, []string{toolsChanged}, "switched on ns_off1; adds about 9 tokens",
			[]string{"tool ns_on1", "tool ns_off1", "resource ns_on://r"}, []string{`{"name":"ns_off1","inputSchema":{"x":1.0}}`}},
		{"a tool off", activation{toolsOff: []string{"ns_on1"}}, []string{toolsChanged}, "switched off ns_on1; saves about 3 tokens",
			[]string{"resource ns_on://r"}, nil},
		{"a resource and a template on", activation{resourcesOn: []string{"ns_off://{t}", "ns_off://r"}}, []string{toolsChanged, resourcesChanged},
			"switched on ns_off://r, ns_off://{t}; adds about 11 tokens",
			[]string{"tool ns_on1", "resource ns_on://r", "resource ns_off://r", "resource template ns_off://{t}"}, nil},
		{"all at once", activation{toolsOn: []string{"ns_off2", "ns_off1"}, toolsOff: []string{"ns_on1"}, resourcesOn: []string{"ns_off://r"}, resourcesOff: []string{"ns_on://r"}},
			[]string{toolsChanged, resourcesChanged}, "switched on ns_off1, ns_off2, ns_off://r; switched off ns_on1, ns_on://r; adds about 19 tokens; saves about 8 tokens",
			[]string{"tool ns_off1", "tool ns_off2", "resource ns_off://r"}, []string{`{"name":"ns_off1","inputSchema":{"x":1.0}}`, `{ "name" : "ns_off2" }`}},
		{"what is on already", activation{toolsOn: []string{"ns_on1"}, resourcesOff: []string{"ns_off://r"}}, nil,
			"nothing to change: everything named was as asked for", []string{"tool ns_on1", "resource ns_on://r"}, nil},
		{"a name twice", activation{toolsOn: []string{"ns_off1", "ns_off1", "ns_on1"}}, []string{toolsChanged}, "switched on ns_off1; adds about 9 tokens",
			[]string{"tool ns_on1", "tool ns_off1", "resource ns_on://r"}, []string{`{"name":"ns_off1","inputSchema":{"x":1.0}}`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := switchable(t)
			notified, o := g.activate(tt.a)
			checkList(t, "notified", notified, tt.notified...)
			if !o.Success || o.text() != tt.says {
				t.Errorf("says %q, want %q", o.text(), tt.says)
			}
			checkList(t, "active", activeNames(g.view()), tt.active...)
			var tools []string
			for _, tool := range o.Tools {
				tools = append(tools, string(tool))
			}
			checkList(t, "definitions", tools, tt.tools...)
			g.quiet()
		})
	}
}

func TestActivateRefuses(t *testing.T) {
	const shape = "; toolman_activate takes exactly the four lists tools_on, tools_off, resources_on and resources_off, [] where there is nothing to do"
	const wrong = ". Correct the names and call toolman_activate again; the catalog in its description has them all"
	long := strings.Repeat("ü", 300)
	for _, tt := range []struct{ name, args, says string }{
		{"no arguments", `null`, "toolman_activate needs arguments, an object with the four lists tools_on, tools_off, resources_on and resources_off"},
		{"arguments that are a list", `["ns_off1"]`, "toolman_activate needs arguments, an object with the four lists tools_on, tools_off, resources_on and resources_off"},
		{"a list missing", `{"tools_on":["ns_off1"],"tools_off":[],"resources_on":[]}`, "resources_off is missing" + shape},
		{"all lists missing", `{}`, "tools_on is missing; tools_off is missing; resources_on is missing; resources_off is missing" + shape},
		{"a list that is a string", `{"tools_on":"ns_off1","tools_off":[],"resources_on":[],"resources_off":[]}`, "tools_on must be a list of strings" + shape},
		{"a list that is null", `{"tools_on":["ns_off1"],"tools_off":null,"resources_on":[],"resources_off":[]}`, "tools_off must be a list of strings" + shape},
		{"a name that is a number", `{"tools_on":["ns_off1",1],"tools_off":[],"resources_on":[],"resources_off":[]}`, "tools_on must be a list of strings" + shape},
		{"another parameter", `{"tools_on":["ns_off1"],"tools_off":[],"resources_on":[],"resources_off":[],"toolsOn":[]}`, `"toolsOn" is not a parameter` + shape},
		{"a list twice", `{"tools_on":["ns_off1"],"tools_on":[],"tools_off":[],"resources_on":[],"resources_off":[]}`,
			"in params.arguments: the member tools_on stands there twice" + shape},
		{"a list in another spelling", `{"tools_on":["ns_off1"],"Tools_On":[],"tools_off":[],"resources_on":[],"resources_off":[]}`,
			`in params.arguments: the member "Tools_On" is spelled almost like tools_on; "Tools_On" is not a parameter` + shape},
		{"an unknown tool", `{"tools_on":["ns_off1","ns_of2"],"tools_off":[],"resources_on":[],"resources_off":[]}`,
			"nothing was changed: unknown tool ns_of2 (did you mean ns_off2 or ns_on1 or ns_off1?)" + wrong},
		{"unknown names everywhere", `{"tools_on":["ns_off1"],"tools_off":["qwertyuiop"],"resources_on":["zxcvbnm"],"resources_off":[""]}`,
			`nothing was changed: unknown tool qwertyuiop; unknown resource zxcvbnm; unknown resource ""` + wrong},
		{"a tool as a resource", `{"tools_on":[],"tools_off":[],"resources_on":["ns_off1"],"resources_off":[]}`, "unknown resource ns_off1"},
		{"a prompt", `{"tools_on":["ns_p"],"tools_off":[],"resources_on":[],"resources_off":[]}`, "unknown tool ns_p"},
		{"on and off", `{"tools_on":["ns_off1","ns_off2"],"tools_off":["ns_on1","ns_off1"],"resources_on":["ns_off://r"],"resources_off":["ns_off://r"]}`,
			"nothing was changed: ns_off1 is to be both on and off; ns_off://r is to be both on and off" + wrong},
		{"toolman's own", `{"tools_on":["ns_off1"],"tools_off":["toolman_activate"],"resources_on":[],"resources_off":["toolman://catalog"]}`,
			"nothing was changed: toolman_activate is always active; toolman://catalog is always active" + wrong},
		{"a name that hides something", `{"tools_on":["\u001b[2J\n\u202e` + long + `"],"tools_off":[],"resources_on":[],"resources_off":[]}`,
			"nothing was changed: unknown tool  [2J " + long[:2*194] + wrong},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := switchable(t)
			before := g.view()
			o := reportOf(t, g.client.asks(callFrame("1", catalog.ActivateTool, tt.args)))
			if o.Success || !strings.HasPrefix(o.text(), tt.says) && !strings.Contains(o.text(), ": "+tt.says) {
				t.Errorf("says\n%q, want\n%q", o.text(), tt.says)
			}
			if g.view() != before {
				t.Error("the view has changed")
			}
		})
	}
}

func TestFourEmptyListsGetTheCatalog(t *testing.T) {
	g := switchable(t)
	_, o := g.activate(activation{})
	if want := "all four lists are empty: name at least one tool or resource to switch on or off. These are all there are, active ones marked with *:\n" +
		view.CatalogText(g.view()); o.Success || o.text() != want {
		t.Errorf("says %q, want %q", o.text(), want)
	}
}

func TestEveryWrongNameIsGuessed(t *testing.T) {
	g := switchable(t)
	_, o := g.activate(activation{toolsOn: []string{"NS_off1", "NS_off2", "NS_on1", "NS-off1", "NS-off2", "NS-on1"}})
	if got := strings.Count(o.text(), "did you mean"); got != 6 {
		t.Errorf("%d guesses: %s", got, o.text())
	}
}

func TestManyWrongNamesAreCounted(t *testing.T) {
	g := switchable(t)
	names := make([]string, 20_000)
	for i := range names {
		names[i] = fmt.Sprintf("wrong%d", i)
	}
	_, o := g.activate(activation{toolsOn: names, toolsOff: slices.Clone(names)[1:]})
	if !strings.Contains(o.text(), "; unknown tool wrong19; and 39979 more. Correct") || strings.Contains(o.text(), "wrong20") {
		t.Errorf("says %.1000q", o.text())
	}
}

func TestACallSeesTheActivationBeforeIt(t *testing.T) {
	g := switchable(t)
	g.client.says(callFrame("1", "ns_off1", "{}"), activation{toolsOn: []string{"ns_off1"}}.frame("2"), callFrame("3", "ns_off1", "{}"),
		activation{toolsOff: []string{"ns_off1"}}.frame("4"), callFrame("5", "ns_off1", "{}"))
	if got := g.servers[0].hears(); len(got) != 1 {
		t.Errorf("%d calls were passed on, want the one between", len(got))
	}
	var answered []string
	for _, frame := range g.client.hears() {
		answered = append(answered, idOf(t, frame))
	}
	checkList(t, "answered", answered, "1", "", "2", "", "4", "5")
}

func TestTheDefinitionsInAnAnswerAreBounded(t *testing.T) {
	big := func(name string) string {
		return `{"name":"` + name + `","description":"` + strings.Repeat("x", 100<<10) + `"}`
	}
	g := newRig(t, setup{}, offer{tools: []string{big("a"), big("b"), big("c"), "d"}})
	_, o := g.activate(activation{toolsOn: []string{"a", "b", "c", "d"}})
	if len(o.Tools) != 3 || o.text() != "switched on a, b, c, d; adds about 71464 tokens" {
		t.Errorf("%d definitions, %q", len(o.Tools), o.text())
	}
}

func TestAConfirmationIsShort(t *testing.T) {
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprintf("tool%02d", i))
	}
	g := newRig(t, setup{}, offer{tools: names})
	_, o := g.activate(activation{toolsOn: names})
	if want := "switched on " + strings.Join(names[:10], ", ") + " and 20 more; adds about 118 tokens"; o.text() != want {
		t.Errorf("got %q, want %q", o.text(), want)
	}
}

// FuzzActivate checks that an activation is done whole, and only what it says, or
// not at all.
func FuzzActivate(f *testing.F) {
	for _, args := range []string{
		`{"tools_on":["ns_off1"],"tools_off":["ns_on1"],"resources_on":["ns_off://r","ns_off://{t}"],"resources_off":["ns_on://r"]}`,
		`{"tools_on":["ns_off1","unknown"],"tools_off":[],"resources_on":[],"resources_off":[]}`,
		`{"tools_on":["ns_off1"],"tools_off":["ns_off1"],"resources_on":[],"resources_off":[]}`,
		`{"tools_on":["ns_\u006ff\u0066\u0031"],"tools_off":[],"resources_on":[],"resources_off":[],"tools_on":[]}`,
		`{"tools_on":[],"tools_off":[],"resources_on":[],"resources_off":[]}`, `{"tools_on":["ns_on1"],"TOOLS_ON":["ns_off1"]}`, `[]`, `7`,
		`{"tools\u005fon":["ns_off2"],"tools_off":["ns_on1",null],"resources_on":{},"resources_off":[[]]}`,
	} {
		f.Add([]byte(args))
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		g := switchable(t)
		frame := callFrame("1", catalog.ActivateTool, string(args))
		if !jsonrpc.Valid(args) || strings.Contains(frame, "\n") {
			return
		}
		before := g.view()
		g.client.says(frame)
		heard := g.client.hears()
		last := len(heard) - 1
		if last < 0 || idOf(t, heard[last]) != "1" {
			t.Fatalf("not answered: %q", heard)
		}
		if o := reportOf(t, heard[last]); !o.Success {
			if g.view() != before || last > 0 {
				t.Fatalf("refused with %q, but something has changed", o.text())
			}
			return
		}
		var asked metatool.Arguments
		strict := json.NewDecoder(strings.NewReader(string(args)))
		strict.DisallowUnknownFields()
		if err := strict.Decode(&asked); err != nil {
			t.Fatalf("done, but %v: %s", err, args)
		}
		checkDone(t, before, g.view(), &asked)
		if changed := !slices.Equal(activeNames(before), activeNames(g.view())); changed != (last > 0) {
			t.Fatalf("changed: %v, notifications: %q", changed, heard[:last])
		}
	})
}

// checkDone checks that what was asked for is so and everything else as it was.
func checkDone(t *testing.T, before, after *view.View, asked *metatool.Arguments) {
	t.Helper()
	for _, list := range []struct {
		names []string
		tool  bool
	}{{asked.ToolsOn, true}, {asked.ToolsOff, true}, {asked.ResourcesOn, false}, {asked.ResourcesOff, false}} {
		for _, name := range list.names {
			if k := map[bool]mcpwire.Kind{true: mcpwire.Tool, false: mcpwire.Resource}[list.tool]; !after.Has(k, name) {
				t.Fatalf("done, but %q is unknown", name)
			}
		}
	}
	for _, k := range allKinds {
		on, off := asked.ResourcesOn, asked.ResourcesOff
		if k == mcpwire.Tool {
			on, off = asked.ToolsOn, asked.ToolsOff
		}
		for _, e := range after.Catalog.Entries(k) {
			want := before.Active(e)
			switch isOn, isOff := slices.Contains(on, e.Name), slices.Contains(off, e.Name); {
			case k == mcpwire.Prompt:
			case isOn && isOff:
				t.Fatalf("done, but %s is to be both", e.Name)
			case isOn:
				want = true
			case isOff:
				want = false
			}
			if after.Active(e) != want {
				t.Fatalf("%s %s is active: %v, want %v", k, e.Name, !want, want)
			}
		}
	}
}
