package router

import (
	"toolman/jsonrpc"
	"toolman/mcpwire"
)

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
