package metatool

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/catalog"
	"toolman/router/choose"
	"toolman/router/toolset"
	"toolman/router/view"
)

// An Activation contains the parsed arguments of a call of toolman_activate.
type Activation struct {
	toolsOn, toolsOff, resourcesOn, resourcesOff []string
	setsOn, setsOff                              []string       // names of toolsets, given among the tools
	found                                        []*toolset.Set // the toolsets of setsOn and setsOff
}

// switches returns the changes to the view. The toolsets must have been found.
func (a *Activation) switches() *view.Switches {
	on := len(a.setsOn)
	return &view.Switches{ToolsOn: a.toolsOn, ToolsOff: a.toolsOff, ResourcesOn: a.resourcesOn, ResourcesOff: a.resourcesOff,
		Enable: a.found[:on], Disable: a.found[on:]}
}

func (a *Activation) empty() bool {
	return len(a.toolsOn)+len(a.toolsOff)+len(a.resourcesOn)+len(a.resourcesOff) == 0 && !a.NamesToolsets()
}

// NamesToolsets reports whether the call names toolsets.
func (a *Activation) NamesToolsets() bool { return len(a.setsOn)+len(a.setsOff) > 0 }

func (a *Activation) lists() []listParam {
	return []listParam{
		{"tools_on", "names of tools to switch on", &a.toolsOn},
		{"tools_off", "names of tools to switch off", &a.toolsOff},
		{"resources_on", "URIs or URI templates of resources to switch on", &a.resourcesOn},
		{"resources_off", "URIs or URI templates of resources to switch off", &a.resourcesOff},
	}
}

type listParam struct {
	key, meaning string
	into         *[]string
}

// ParseActivation parses the arguments: four lists of strings, all required.
func ParseActivation(m *jsonrpc.Message) (*Activation, error) {
	args, err := m.Param("arguments")
	if err != nil {
		return nil, err
	}
	if !m.IsObject(args) {
		return nil, fmt.Errorf("%s needs arguments, an object with the four lists tools_on, tools_off, resources_on and resources_off", catalog.ActivateTool)
	}
	var a Activation
	var problems []string
	for _, l := range a.lists() {
		if *l.into, err = stringList(m, args, l.key); err != nil {
			problems = append(problems, err.Error())
		}
	}
	for key := range jsonrpc.Members(m.Frame, args) {
		if !slices.ContainsFunc(a.lists(), func(l listParam) bool { return l.key == key }) {
			problems = append(problems, fmt.Sprintf("%q is not a parameter", sanitize.Cut(key, catalog.NameLimit)))
		}
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("%s; %s takes exactly the four lists tools_on, tools_off, resources_on and resources_off, [] where there is nothing to do",
			strings.Join(problems[:min(len(problems), 8)], "; "), catalog.ActivateTool)
	}
	a.setsOn, a.setsOff = takeToolsets(&a.toolsOn), takeToolsets(&a.toolsOff)
	return &a, nil
}

func stringList(m *jsonrpc.Message, args jsonrpc.Span, key string) ([]string, error) {
	at, err := m.Get(args, key)
	if err != nil {
		return nil, err
	}
	if !at.Present() {
		return nil, fmt.Errorf("%s is missing", key)
	}
	if m.Frame[at.Lo] != '[' {
		return nil, fmt.Errorf("%s must be a list of strings", key)
	}
	var list []string
	for el := range jsonrpc.Elements(m.Frame, at) {
		if !m.IsString(el) {
			return nil, fmt.Errorf("%s must be a list of strings", key)
		}
		list = append(list, string(m.Text(el)))
	}
	return list, nil
}

// toolsetPrefix marks the name of a toolset in a list of tools.
const toolsetPrefix = "toolset:"

// takeToolsets removes the toolsets from a list of tools and returns their names. No tool has such
// a name, because clients reject the colon.
func takeToolsets(list *[]string) (sets []string) {
	*list = slices.DeleteFunc(*list, func(name string) bool {
		set, ok := strings.CutPrefix(name, toolsetPrefix)
		if ok {
			sets = append(sets, set)
		}
		return ok
	})
	return sets
}

// Activate implements toolman_activate for the results of ParseActivation. It applies all changes
// or none.
func Activate(c *Context, a *Activation, err error) Outcome {
	var skipped []string
	switch {
	case c.Guidance.Mode == view.ModeStatic:
		err = errors.New(c.Guidance.Static())
	case err != nil:
	case a.empty():
		err = fmt.Errorf("all four lists are empty: name at least one tool or resource to switch on or off. These are all there are, active ones marked with *:\n%s", view.CatalogText(c.View))
	default:
		skipped, err = checkActivation(c.View, a, c.Library)
	}
	if err != nil {
		return Outcome{Err: err}
	}
	after := c.View.Apply(a.switches())
	return Outcome{View: after, Warnings: append(setWarnings(after, a.found[:len(a.setsOn)]...), skipped...)}
}

// checkActivation looks up all names, and returns what cannot be switched on and is skipped. The
// error names every unknown name, with similar names, every unknown toolset, and every name that is
// to be both on and off. It sets a.found.
func checkActivation(v *view.View, a *Activation, l *Library) (skipped []string, err error) {
	c := choose.New(v)
	a.toolsOn, a.toolsOff = c.Items(a.toolsOn, a.toolsOff, mcpwire.Tool)
	a.resourcesOn, a.resourcesOff = c.Items(a.resourcesOn, a.resourcesOff, mcpwire.Resource)
	for _, name := range slices.Concat(a.setsOn, a.setsOff) {
		set, err := l.Get(name)
		if err != nil {
			c.Fail("%s", sanitize.Line(err.Error()))
		}
		a.found = append(a.found, set)
	}
	c.Disjoint(a.setsOn, a.setsOff)
	return c.Skipped(), c.Err()
}
