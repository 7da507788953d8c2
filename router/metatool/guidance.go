package metatool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/catalog"
	"toolman/router/choose"
	"toolman/router/view"
)

// A Guidance describes how a client can list and activate items. Refusals use it for their advice.
type Guidance struct {
	Mode   view.Mode
	Offers view.MetaTools
	Tools  map[string]*Tool // the toolset tools
	Fixed  string           // the setting that fixes the mode to ModeStatic
	Lists  string           // where tools are listed; "": tools/list
}

// FixedByMode is the setting that fixes the mode to ModeStatic.
const FixedByMode = `activation_mode = "static"`

// Explain says why a name cannot be used and what the client can do about it.
func (g *Guidance) Explain(v *view.View, k mcpwire.Kind, name string, t catalog.Target, verdict catalog.Verdict) (text string) {
	switch verdict {
	case catalog.Inactive:
		text = fmt.Sprintf("%s %s is not active: %s; ", t.Entry.Item.Kind, sanitize.Name(t.Entry.Name), sanitize.Line(v.Activity(t.Entry)))
		if v.Rejection(t.Entry) != "" {
			return text + "go on without it; a person has to look at it"
		}
		text += g.remedy(t.Entry)
	case catalog.Denied, catalog.Held:
		text = v.Catalog.Denial(t.Entry, name)
	case catalog.Ambiguous:
		if meant := v.Qualified(k, name); len(meant) > 1 {
			return choose.Ambiguous(name, meant)
		}
		form, example := "several servers have a %s %s; use the name with that of its server, such as %s", sanitize.Name(t.Entry.Name)
		if k.IsURI() {
			form, example = "several servers have a %s %s; use the URI with the name of its server, such as %s", t.Entry.Prefix+sanitize.Short(name)
			if t.Entry.IsPage() {
				example = sanitize.Name(t.Entry.Name)
			}
		}
		text = fmt.Sprintf(form, k, sanitize.Short(name), example)
	default:
		if absent := v.Catalog.AbsentOwner(k, name); absent != nil {
			return absent.Error
		}
		if former := v.Catalog.FormerText(k, name); former != "" {
			return former
		}
		text = fmt.Sprintf("unknown %s %s", k, sanitize.Short(name))
		if near := v.Catalog.Similar(k, name, g.ownNames()...); len(near) > 0 {
			text += "; similar names: " + strings.Join(near, ", ")
		} else if lists := g.listing(k); lists != "" {
			text += fmt.Sprintf("; %s lists those there are", lists)
		}
	}
	return text
}

// remedy explains how to activate an entry.
func (g *Guidance) remedy(e *catalog.Entry) string {
	tool := e.Item.Kind == mcpwire.Tool
	switch {
	case g.Mode == view.ModeStatic:
		return g.Static()
	case !g.Offers.NoActivate:
		return fmt.Sprintf("call %s with %s, then try again", catalog.ActivateTool, activationFor(e))
	case tool && g.Offers.Toolsets:
		return fmt.Sprintf("call %s with a toolset that has it (%s shows them), then try again", enableTool, listSetsTool)
	case tool && g.Offers.Manage:
		return fmt.Sprintf("call %s with a toolset that has it, then try again", equipTool)
	}
	return "nothing here can switch it on (meta_tools in tools.toml); go on without it, or have active_toolsets changed"
}

// activationFor returns the arguments of toolman_activate that switch an entry on.
func activationFor(e *catalog.Entry) string {
	text, err := json.Marshal(activating(e))
	if err != nil {
		return ""
	}
	return string(text)
}

// activating returns the arguments of toolman_activate that switch entries on.
func activating(entries ...*catalog.Entry) *Arguments {
	args := &Arguments{ToolsOn: []string{}, ToolsOff: []string{}, ResourcesOn: []string{}, ResourcesOff: []string{}}
	for _, e := range entries {
		if e.Item.Kind == mcpwire.Tool {
			args.ToolsOn = append(args.ToolsOn, e.Name)
		} else {
			args.ResourcesOn = append(args.ResourcesOn, e.Name)
		}
	}
	return args
}

// Arguments are the arguments of toolman_activate.
type Arguments struct {
	ToolsOn      []string `json:"tools_on"`
	ToolsOff     []string `json:"tools_off"`
	ResourcesOn  []string `json:"resources_on"`
	ResourcesOff []string `json:"resources_off"`
}

// Static explains why nothing can be switched.
func (g *Guidance) Static() string {
	return "nothing can be switched on or off: what is active is fixed by the configuration (" + g.Fixed +
		"); go on with the tools that are listed, or have active_toolsets changed"
}

// listing returns where items of a kind are listed, or "" if they are not.
func (g *Guidance) listing(k mcpwire.Kind) string {
	switch {
	case g.Lists == "":
		return string(k.ListMethod())
	case k == mcpwire.Tool:
		return g.Lists
	}
	return ""
}

// ownNames returns the names of toolman's own tools that the client can call, without toolman_login,
// which depends on the request.
func (g *Guidance) ownNames() []string {
	var names []string
	for name, t := range g.Tools {
		if name != LoginTool && (g.Mode != view.ModeStatic || t.InStaticMode) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if g.Mode != view.ModeStatic && !g.Offers.NoActivate {
		names = append(names, catalog.ActivateTool)
	}
	if g.Mode == view.ModeCall && g.Offers.CanSwitch() {
		names = append(names, CallTool)
	}
	return names
}
