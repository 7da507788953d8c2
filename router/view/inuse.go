package view

import "slices"

// ToolsetsOf returns the names of the toolsets in use that contain a tool: those that are enabled
// or equipped, or that the client is limited to.
func ToolsetsOf(v *View, tool string) []string {
	names := v.Catalog.Limit.Names(tool)
	if v.Sets == nil {
		return names
	}
	for _, x := range v.Sets.toolsets() {
		if x.Tools[tool] && !slices.Contains(names, x.Set.Name) {
			names = append(names, x.Set.Name)
		}
	}
	return names
}
