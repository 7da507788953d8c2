package metatool

import (
	"fmt"

	"toolman/mcpwire/sanitize"
	"toolman/router/toolset"
	"toolman/router/view"
)

// Names that other texts mention.
const (
	listSetsTool = "list_toolsets"
	enableTool   = "enable_toolset"
	equipTool    = "equip-toolset"
)

// Parts of definitions.
const (
	noArguments = `"inputSchema":{"type":"object","properties":{},"additionalProperties":false}`
	oneName     = `"inputSchema":{"type":"object","properties":{"name":{"type":"string","description":"Name of the toolset"}},` +
		`"required":["name"],"additionalProperties":false}`
	reads    = `,"annotations":{"readOnlyHint":true,"openWorldHint":false}}`
	switches = `,"annotations":{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}}`
	adds     = `,"annotations":{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":false,"openWorldHint":false}}`
	deletes  = `,"annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false}}`
)

// toolsetTools returns the tools that list, enable and disable toolsets.
func toolsetTools() []*Tool {
	return []*Tool{
		{Name: "list_tools", InStaticMode: true, run: listTools,
			Definition: `,"description":"Lists the names of the tools that are active, and of those in each toolset. Call this first.",` + noArguments + reads},
		{Name: listSetsTool, run: listToolsets,
			Definition: `,"description":"Lists the toolsets there are, whether each is enabled, and its tools.",` + noArguments + reads},
		{Name: "describe_toolset", run: describeToolset,
			Definition: `,"description":"Describes one toolset: whether it is enabled, its tools, and what is wrong with any of them.",` + oneName + reads},
		{Name: enableTool, run: enableToolset,
			Definition: `,"description":"Enables a toolset: all its tools become active.",` + oneName + switches},
		{Name: "disable_toolset", run: disableToolset,
			Definition: `,"description":"Disables a toolset: its tools are not active any more and cannot be called, but for those of other enabled toolsets.",` + oneName + switches},
	}
}

// A ToolsetStatus describes a toolset in the answers of list_toolsets and describe_toolset.
type ToolsetStatus struct {
	Key        string            `json:"key"`
	Active     bool              `json:"active"`
	Definition toolsetDefinition `json:"definition"`
	Tools      []string          `json:"tools"`
	Warnings   []string          `json:"warnings,omitempty"`
}

type toolsetDefinition struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Status returns the status of a toolset.
func Status(v *view.View, set *toolset.Set) ToolsetStatus {
	x := v.Catalog.Expand(set)
	return ToolsetStatus{Key: set.Name, Active: v.Sets.IsEnabled(set.Name) || v.Sets.EquippedName() == set.Name,
		Definition: toolsetDefinition{set.Name, sanitize.Line(set.Description)}, Tools: toolsInOrder(v, x), Warnings: sanitized(x.Warnings())}
}

// toolsInOrder returns the tools of a toolset in catalog order.
func toolsInOrder(v *view.View, x *toolset.Expansion) []string {
	names := []string{}
	for _, e := range v.Catalog.Tools() {
		if x.Tools[e.Name] {
			names = append(names, e.Name)
		}
	}
	return names
}

func listTools(c *Context) Outcome {
	v := c.View
	var out struct {
		Tools    []string            `json:"tools"`
		Toolsets map[string][]string `json:"toolsetToTools"`
	}
	out.Tools, out.Toolsets = []string{}, map[string][]string{}
	for _, e := range v.Catalog.Tools() {
		if v.Active(e) && !e.HiddenFrom(c.Modern) {
			out.Tools = append(out.Tools, e.Name)
		}
	}
	for _, set := range c.Library.Sets {
		out.Toolsets[set.Name] = toolsInOrder(v, v.Catalog.Expand(set))
	}
	return answerWithoutArguments(c, out)
}

func listToolsets(c *Context) Outcome {
	v := c.View
	var out struct {
		Toolsets []ToolsetStatus `json:"toolsets"`
		Warnings []string        `json:"warnings,omitempty"`
	}
	out.Toolsets = []ToolsetStatus{}
	for _, set := range c.Library.Sets {
		out.Toolsets = append(out.Toolsets, Status(v, set))
	}
	if c.Library.Err != nil {
		out.Warnings = []string{sanitize.Line(c.Library.Err.Error())}
	}
	return answerWithoutArguments(c, out)
}

// answerWithoutArguments answers a call that takes no arguments.
func answerWithoutArguments(c *Context, out any) Outcome {
	if _, err := argumentsOf(c.Message); err != nil {
		return Failure(err.Error())
	}
	return resultOutcome(out)
}

// namedToolset returns the toolset that a call names as its only argument.
func namedToolset(c *Context) (*toolset.Set, error) {
	a, err := argumentsOf(c.Message, "name")
	if err != nil {
		return nil, err
	}
	name, err := a.text("name")
	if err != nil {
		return nil, err
	}
	return c.Library.Get(name)
}

func describeToolset(c *Context) Outcome {
	set, err := namedToolset(c)
	if err != nil {
		return Failure(err.Error())
	}
	return resultOutcome(Status(c.View, set))
}

func enableToolset(c *Context) Outcome {
	set, err := namedToolset(c)
	switch {
	case err != nil:
		return Failure(err.Error())
	case c.View.Sets.IsEnabled(set.Name):
		return Failure(fmt.Sprintf("Toolset '%s' is already enabled.", set.Name))
	}
	after := c.View.Enable(set)
	return viewChanged(after, fmt.Sprintf("Toolset '%s' enabled", set.Name), setWarnings(after, set))
}

func disableToolset(c *Context) Outcome {
	set, err := namedToolset(c)
	switch {
	case err != nil:
		return Failure(err.Error())
	case !c.View.Sets.IsEnabled(set.Name):
		return Failure(fmt.Sprintf("Toolset '%s' is not currently active. Active toolsets: %s", set.Name, c.View.Sets.EnabledNames()))
	}
	return viewChanged(c.View.Disable(set), fmt.Sprintf("Toolset '%s' disabled", set.Name), nil)
}

// viewChanged returns the outcome that gives the client a new view and describes what has changed.
func viewChanged(after *view.View, what string, warnings []string) Outcome {
	return Outcome{View: after, Reply: func(text string) any {
		return simpleOutcome{Success: true, Message: what + ": " + text, Warnings: sanitized(warnings)}
	}}
}
