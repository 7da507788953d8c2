package router

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

// toolsetTools are the tools that show toolsets and enable them.
func toolsetTools() []*metaTool {
	return []*metaTool{
		{name: "list_tools", free: true, serve: (*Session).listToolsLocked,
			definition: `,"description":"Lists the names of the tools that are active, and of those in each toolset. Call this first.",` + noArguments + reads},
		{name: listSetsTool, serve: (*Session).listToolsetsLocked,
			definition: `,"description":"Lists the toolsets there are, whether each is enabled, and its tools.",` + noArguments + reads},
		{name: "describe_toolset", serve: (*Session).describeToolsetLocked,
			definition: `,"description":"Describes one toolset: whether it is enabled, its tools, and what is wrong with any of them.",` + oneName + reads},
		{name: enableTool, serve: (*Session).enableToolsetLocked,
			definition: `,"description":"Enables a toolset: all its tools become active.",` + oneName + switches},
		{name: "disable_toolset", serve: (*Session).disableToolsetLocked,
			definition: `,"description":"Disables a toolset: its tools are not active any more and cannot be called, but for those of other enabled toolsets.",` + oneName + switches},
	}
}

// A toolsetStatus is what list_toolsets and describe_toolset say of a toolset.
type toolsetStatus struct {
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

func toolsetStatusOf(v *view.View, set *toolset.Set) toolsetStatus {
	x := v.Catalog.Expand(set)
	return toolsetStatus{Key: set.Name, Active: v.Sets.IsEnabled(set.Name) || v.Sets.EquippedName() == set.Name,
		Definition: toolsetDefinition{set.Name, sanitize.Line(set.Description)}, Tools: toolsInOrder(v, x), Warnings: cleaned(x.Warnings())}
}

// toolsInOrder are the tools of a toolset in catalog order.
func toolsInOrder(v *view.View, x *toolset.Expansion) []string {
	names := []string{}
	for _, e := range v.Catalog.Tools() {
		if x.Tools[e.Name] {
			names = append(names, e.Name)
		}
	}
	return names
}

func (s *Session) listToolsLocked(req *request, l *library) {
	v := s.view.Load()
	var out struct {
		Tools    []string            `json:"tools"`
		Toolsets map[string][]string `json:"toolsetToTools"`
	}
	out.Tools, out.Toolsets = []string{}, map[string][]string{}
	for _, e := range v.Catalog.Tools() {
		if v.Active(e) && !e.HiddenFrom(req.modern) {
			out.Tools = append(out.Tools, e.Name)
		}
	}
	for _, set := range l.sets {
		out.Toolsets[set.Name] = toolsInOrder(v, v.Catalog.Expand(set))
	}
	s.answerListLocked(req, out)
}

func (s *Session) listToolsetsLocked(req *request, l *library) {
	v := s.view.Load()
	var out struct {
		Toolsets []toolsetStatus `json:"toolsets"`
		Warnings []string        `json:"warnings,omitempty"`
	}
	out.Toolsets = []toolsetStatus{}
	for _, set := range l.sets {
		out.Toolsets = append(out.Toolsets, toolsetStatusOf(v, set))
	}
	if l.err != nil {
		out.Warnings = []string{sanitize.Line(l.err.Error())}
	}
	s.answerListLocked(req, out)
}

// answerListLocked answers a call that takes no arguments.
func (s *Session) answerListLocked(req *request, out any) {
	if _, err := argumentsOf(req.Message); err != nil {
		s.failLocked(req, err.Error())
		return
	}
	s.sayLocked(req, out, false)
}

// namedToolsetLocked returns the toolset that a call names as its only argument; when
// there is none, the call is answered.
func (s *Session) namedToolsetLocked(req *request, l *library) *toolset.Set {
	a, err := argumentsOf(req.Message, "name")
	var name string
	if err == nil {
		name, err = a.text("name")
	}
	var set *toolset.Set
	if err == nil {
		set, err = l.get(name)
	}
	if err != nil {
		s.failLocked(req, err.Error())
		return nil
	}
	return set
}

func (s *Session) describeToolsetLocked(req *request, l *library) {
	if set := s.namedToolsetLocked(req, l); set != nil {
		s.sayLocked(req, toolsetStatusOf(s.view.Load(), set), false)
	}
}

func (s *Session) enableToolsetLocked(req *request, l *library) {
	set := s.namedToolsetLocked(req, l)
	if set == nil {
		return
	}
	before := s.view.Load()
	if before.Sets.IsEnabled(set.Name) {
		s.failLocked(req, fmt.Sprintf("Toolset '%s' is already enabled.", set.Name))
		return
	}
	after := before.Enable(set)
	s.changeLocked(req, after, fmt.Sprintf("Toolset '%s' enabled", set.Name), after.Catalog.Expand(set).Warnings())
}

func (s *Session) disableToolsetLocked(req *request, l *library) {
	set := s.namedToolsetLocked(req, l)
	if set == nil {
		return
	}
	before := s.view.Load()
	if !before.Sets.IsEnabled(set.Name) {
		s.failLocked(req, fmt.Sprintf("Toolset '%s' is not currently active. Active toolsets: %s", set.Name, before.Sets.EnabledNames()))
		return
	}
	s.changeLocked(req, before.Disable(set), fmt.Sprintf("Toolset '%s' disabled", set.Name), nil)
}

// changeLocked shows the client another view, and says so in the end.
func (s *Session) changeLocked(req *request, after *view.View, what string, warnings []string) {
	before := s.view.Load()
	s.view.Store(after)
	s.holdLocked(req, before, after, words{outcome: func(text string) any {
		return simpleOutcome{Success: true, Message: what + ": " + text, Warnings: cleaned(warnings)}
	}})
}
