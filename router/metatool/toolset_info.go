package metatool

import (
	"time"

	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/catalog"
	"toolman/router/toolset"
	"toolman/router/view"
)

// A toolsetInfo describes a toolset in the answers of the tools of manage.go.
type toolsetInfo struct {
	Name           string       `json:"name"`
	Description    string       `json:"description,omitempty"`
	Version        string       `json:"version,omitempty"`
	CreatedAt      *time.Time   `json:"createdAt,omitempty"`
	ToolCount      int          `json:"toolCount"`
	Active         bool         `json:"active"`
	TotalServers   int          `json:"totalServers"`
	EnabledServers int          `json:"enabledServers"`
	TotalTools     int          `json:"totalTools"`
	Servers        []serverInfo `json:"servers"`
	Tools          []toolInfo   `json:"tools"`
	Warnings       []string     `json:"warnings,omitempty"`
}

type serverInfo struct {
	Name      string `json:"name"`
	Enabled   bool   `json:"enabled"`
	ToolCount int    `json:"toolCount"`
}

type toolInfo struct {
	NamespacedName string `json:"namespacedName,omitempty"`
	RefID          string `json:"refId,omitempty"`
	Server         string `json:"server"`
	Active         bool   `json:"active"`
}

type builtOutcome struct {
	Success bool        `json:"success"`
	Message string      `json:"message"`
	Meta    builtMeta   `json:"meta"`
	Toolset toolsetInfo `json:"toolset"`
}

type builtMeta struct {
	Success      bool   `json:"success"`
	ToolsetName  string `json:"toolsetName"`
	AutoEquipped bool   `json:"autoEquipped"`
}

type equippedOutcome struct {
	Success  bool        `json:"success"`
	Message  string      `json:"message"`
	Toolset  toolsetInfo `json:"toolset"`
	Warnings []string    `json:"warnings"`
}

type savedOutcome struct {
	Success  bool          `json:"success"`
	Toolsets []toolsetInfo `json:"toolsets"`
}

type activeOutcome struct {
	Equipped    bool                     `json:"equipped"`
	Toolset     *toolsetInfo             `json:"toolset,omitempty"`
	Summary     toolSummary              `json:"toolSummary"`
	Exposed     map[string][]exposedTool `json:"exposedTools"`
	Unavailable []string                 `json:"unavailableServers"`
	Warnings    []string                 `json:"warnings"`
}

type toolSummary struct {
	Exposed    int `json:"currentlyExposed"`
	Discovered int `json:"totalDiscovered"`
	Filtered   int `json:"filteredOut"`
}

type exposedTool struct {
	Name           string `json:"name"`
	NamespacedName string `json:"namespacedName"`
	ServerName     string `json:"serverName,omitempty"`
	Description    string `json:"description,omitempty"`
	Active         bool   `json:"active,omitempty"`
}

// infoOf describes the current state of a toolset.
func infoOf(v *view.View, set *toolset.Set) toolsetInfo {
	x := v.Catalog.Expand(set)
	info := toolsetInfo{Name: set.Name, Description: sanitize.Line(set.Description), Version: sanitize.Line(set.Version),
		Active: v.Sets.EquippedName() == set.Name, Tools: toolInfos(v, x), Servers: serverInfos(v, x), Warnings: sanitized(x.Warnings())}
	if !set.CreatedAt.IsZero() {
		info.CreatedAt = &set.CreatedAt
	}
	info.ToolCount, info.TotalTools = len(info.Tools), len(info.Tools)
	info.TotalServers, info.EnabledServers = len(info.Servers), len(info.Servers)
	return info
}

// toolInfos returns the tools of a toolset: first its available tools in catalog order, then those
// that are available but left out.
func toolInfos(v *view.View, x *toolset.Expansion) []toolInfo {
	infos := []toolInfo{}
	for _, e := range v.Catalog.Tools() {
		if x.Tools[e.Name] {
			infos = append(infos, toolInfo{e.Name, e.RefID(), e.Source.Name, v.Active(e)})
		}
	}
	refs := x.Resolutions[len(x.Set.Patterns):]
	for i, ref := range x.Set.Tools {
		if len(refs[i].Tools) == 0 && v.Has(mcpwire.Tool, ref.NamespacedName) {
			infos = append(infos, toolInfo{NamespacedName: sanitize.Line(ref.NamespacedName), RefID: ref.RefID})
		}
	}
	return infos
}

func serverInfos(v *view.View, x *toolset.Expansion) []serverInfo {
	infos := []serverInfo{}
	at := map[*catalog.Source]int{}
	for _, e := range v.Catalog.Tools() {
		if !x.Tools[e.Name] {
			continue
		}
		i, known := at[e.Source]
		if !known {
			i = len(infos)
			at[e.Source] = i
			infos = append(infos, serverInfo{Name: e.Source.Name, Enabled: true})
		}
		infos[i].ToolCount++
	}
	return infos
}

func listSaved(c *Context) Outcome {
	if c.Library.Err != nil {
		return Failure(sanitize.Line(c.Library.Err.Error()))
	}
	out := savedOutcome{Success: true, Toolsets: []toolsetInfo{}}
	for _, set := range c.Library.Saved() {
		out.Toolsets = append(out.Toolsets, infoOf(c.View, set))
	}
	return answerWithoutArguments(c, out)
}

func activeToolset(c *Context) Outcome {
	v := c.View
	out := activeOutcome{Exposed: map[string][]exposedTool{}, Unavailable: []string{}, Warnings: []string{}}
	if v.Sets.EquippedName() != "" {
		info := infoOf(c.View, v.Sets.Equipped.Set)
		out.Equipped, out.Toolset, out.Warnings = true, &info, append(out.Warnings, info.Warnings...)
	}
	for _, e := range v.ActiveEntries(mcpwire.Tool) {
		server := e.Source.Name
		out.Exposed[server] = append(out.Exposed[server], exposedTool{Name: e.Item.Name, NamespacedName: e.Name, ServerName: server, Description: sanitize.Summary(e.Item.Description)})
		out.Summary.Exposed++
	}
	out.Summary.Discovered = len(v.Catalog.Tools())
	out.Summary.Filtered = out.Summary.Discovered - out.Summary.Exposed
	out.Unavailable = append(out.Unavailable, c.Unavailable()...)
	return answerWithoutArguments(c, out)
}
