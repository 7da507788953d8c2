package router

import (
	"toolman/mcpwire/sanitize"
	"toolman/router/client"
	"toolman/router/metatool"
)

// A ToolStatus says which tools and toolsets there are, under Toolception's names.
type ToolStatus struct {
	Available  []string            `json:"availableToolsets"`
	Active     []string            `json:"activeToolsets"`
	Registered []string            `json:"registeredModules"` // always empty: toolman has no modules
	Total      int                 `json:"totalToolsets"`
	Count      int                 `json:"activeCount"`
	Tools      []string            `json:"tools"` // active ones
	Toolsets   map[string][]string `json:"toolsetToTools"`
	Warnings   []string            `json:"warnings,omitempty"`
}

// ToolStatus returns what there is at first for a client. It may wait for the disk, where
// saved toolsets are.
func (r *Router) ToolStatus(who client.Info) ToolStatus {
	v, l := r.startView(r.catalog.Load(), r.policyFor(who), who), r.library(&who)
	st := ToolStatus{Available: []string{}, Active: []string{}, Registered: []string{}, Tools: []string{}, Toolsets: map[string][]string{}}
	for _, set := range l.Sets {
		one := metatool.Status(v, set)
		st.Available = append(st.Available, one.Key)
		st.Toolsets[one.Key] = one.Tools
		for _, w := range one.Warnings {
			st.Warnings = append(st.Warnings, "toolset "+one.Key+": "+w)
		}
		if one.Active || who.Only != nil {
			st.Active = append(st.Active, one.Key)
		}
	}
	for _, e := range v.Catalog.Tools() {
		if v.Active(e) {
			st.Tools = append(st.Tools, e.Name)
		}
	}
	if l.Err != nil {
		st.Warnings = append(st.Warnings, sanitize.Line(l.Err.Error()))
	}
	st.Total, st.Count = len(st.Available), len(st.Active)
	return st
}
