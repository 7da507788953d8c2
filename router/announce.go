package router

import (
	"slices"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/catalog"
)

// Changes say which lists differ between two views. The catalog stands in the
// description of a tool, and so belongs to the list of those.
type changes struct{ tools, resources, prompts bool }

func (v *View) changes(to *View) changes {
	if v == to {
		return changes{}
	}
	differ := func(k mcpwire.Kind) bool { return !slices.Equal(v.active(k), to.active(k)) }
	resources := differ(mcpwire.Resource) || differ(mcpwire.Template)
	return changes{
		tools:     resources || differ(mcpwire.Tool) || !sameCatalog(v.catalog, to.catalog),
		resources: resources,
		prompts:   differ(mcpwire.Prompt),
	}
}

func sameCatalog(a, b *catalog.Catalog) bool {
	return a == b || a.Same(b, mcpwire.Tool) && a.Same(b, mcpwire.Resource) && a.Same(b, mcpwire.Template)
}

// announceLocked sends a list_changed for each kind whose list, as the client sees it,
// differs between two views, and reports whether the tools' does.
func (s *Session) announceLocked(before, after *View, b *jsonrpc.Batch) (tools bool) {
	active := before.changes(after)
	listed := func(modern bool) changes {
		if s.modeOf(modern) == ModeMutate {
			return active
		}
		return before.atStart().changes(after.atStart())
	}
	legacy, modern := listed(false), listed(true)
	tools = s.changedLocked(b, mcpwire.ToolsListChanged, legacy.tools, modern.tools)
	if active.tools {
		s.catalogUpdatedLocked(b)
	}
	s.changedLocked(b, mcpwire.ResourcesListChanged, legacy.resources, modern.resources)
	s.changedLocked(b, mcpwire.PromptsListChanged, legacy.prompts, modern.prompts)
	return tools
}
