package router

// Habits are what is known of a client beyond what it says of itself.
type habits struct {
	// defers: it hides tools behind a search of its own, also those that were just
	// switched on, unless they ask to be loaded always.
	defers bool
	// listsOnce: it never lists the tools again.
	listsOnce bool
	// cutsAt is how many bytes of a description it surely shows; 0: all.
	cutsAt int
}

// habitsOf returns what was measured of the client with this clientInfo.name, with a
// scripted model and a server of our own.
func habitsOf(client string) habits {
	switch client {
	case "claude-code":
		// 2.1.329 defers every MCP tool behind its ToolSearch; with anthropic/alwaysLoad
		// in the _meta of a listed tool that tool is in the model's list at once.
		// 2.1.197 cuts descriptions at 2,048 characters, 2.1.329 at 4,096.
		return habits{defers: true, cutsAt: 2000}
	case "codex-mcp-client":
		// 0.169.0 only logs list_changed (openai/codex#10105, #33266, #35583), and refuses
		// calls of tools that were not in its one list.
		return habits{listsOnce: true}
	}
	return habits{}
}
