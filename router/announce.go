package router

import (
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/view"
)

// announceLocked sends a list_changed for each kind whose list, as the client sees it,
// differs between two views, and reports whether the tools' does.
func (s *Session) announceLocked(before, after *view.View, out *peer.Outgoing) (tools bool) {
	active := before.Changes(after)
	listed := func(modern bool) view.Changes {
		if s.modeOf(modern) == view.ModeMutate {
			return active
		}
		return before.AtStart().Changes(after.AtStart())
	}
	legacy, modern := listed(false), listed(true)
	tools = s.subscriptions.ListChanged(out, mcpwire.ToolsListChanged, legacy.Tools, modern.Tools)
	if active.Tools {
		s.subscriptions.CatalogChanged(out)
	}
	s.subscriptions.ListChanged(out, mcpwire.ResourcesListChanged, legacy.Resources, modern.Resources)
	s.subscriptions.ListChanged(out, mcpwire.PromptsListChanged, legacy.Prompts, modern.Prompts)
	return tools
}
