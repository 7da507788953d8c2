package router

import (
	"cmp"
	"fmt"
	"slices"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/view"
)

// Means are what a client has to see what there is and to make it active: what refusals
// may refer it to.
type means struct {
	mode   view.Mode
	offers view.MetaTools
	meta   map[string]*metaTool // those among them that are about toolsets
	fixed  string               // what has it that the mode is ModeStatic
	lists  string               // what lists tools; "": tools/list
}

const fixedByMode = `activation_mode = "static"`

func (s *Session) meansLocked(modern bool) means {
	return means{s.modeOf(modern), s.offers, s.meta, cmp.Or(s.who.Static, fixedByMode), s.who.Lists}
}

// means are those of a client that everything is offered to.
func (r *Router) means() means {
	return means{r.Mode, r.MetaTools, metaTools(r.MetaTools), fixedByMode, ""}
}

// own are the names of toolman's own tools that the client can call.
func (m *means) own() []string {
	var names []string
	for name, t := range m.meta {
		if m.mode != view.ModeStatic || t.free {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if m.mode != view.ModeStatic && !m.offers.NoActivate {
		names = append(names, catalog.ActivateTool)
	}
	if m.mode == view.ModeCall && m.offers.Switches() {
		names = append(names, CallTool)
	}
	return names
}

// static says why nothing can be switched.
func (m *means) static() string {
	return "nothing can be switched on or off: what is active is fixed by the configuration (" + m.fixed +
		"); go on with the tools that are listed, or have active_toolsets changed"
}

// remedy says what makes an entry active.
func (m *means) remedy(e *catalog.Entry) string {
	tool := e.Item.Kind == mcpwire.Tool
	switch {
	case m.mode == view.ModeStatic:
		return m.static()
	case !m.offers.NoActivate:
		return fmt.Sprintf("call %s with %s, then try again", catalog.ActivateTool, activationFor(e))
	case tool && m.offers.Toolsets:
		return fmt.Sprintf("call %s with a toolset that has it (%s shows them), then try again", enableTool, listSetsTool)
	case tool && m.offers.Manage:
		return fmt.Sprintf("call %s with a toolset that has it, then try again", equipTool)
	}
	return "nothing here can switch it on (meta_tools in tools.toml); go on without it, or have active_toolsets changed"
}

// listing says what lists items of a kind, "" when nothing does.
func (m *means) listing(k mcpwire.Kind) string {
	switch {
	case m.lists == "":
		return string(k.ListMethod())
	case k == mcpwire.Tool:
		return m.lists
	}
	return ""
}
