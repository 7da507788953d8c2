package config

// descriptions says of every key, by its path, what it is for.
func descriptions() map[string]string {
	return map[string]string{
		"$schema":              "Where this schema is, for editors.",
		"active_toolsets":      "Names and globs of what is active at start: on namespace_name, on a resource on its namespaced URI; toolset:NAME stands for the tools of a toolset. Nothing is active without them.",
		"settle_ms":            "The longest that toolman_activate waits for a client to list the tools again, in milliseconds.",
		"catalog_bytes":        "How much of the catalog clients see in the description of toolman_activate: \"all\", a number of bytes, or by what is known of the client.",
		"uri_separator":        "What stands between a namespace and a resource's URI.",
		"activation_mode":      "How what is switched on reaches clients: by changed lists, through toolman_call, not at all, or by what is known of the client.",
		"always_load":          "Whether tools ask clients not to defer loading them; auto: by what is known of the client.",
		"meta_tools":           "Which of toolman's own tools are offered.",
		"allow_stale_refs":     "Whether saved toolsets may use tools that have changed since.",
		"toolsets":             "Names for some tools.",
		"servers":              "The MCP servers, in the order in which they win names.",
		"exposed_tools":        "By server, names and globs of the tools that clients may have.",
		"agent_policies":       "By agent, what it may have.",
		"default_policy":       "What holds where no list says anything.",
		"task_rules":           "What tasks of a kind get on top.",
		"toolsets.tools":       "Names and globs of its tools.",
		"toolsets.description": "What it is for.",

		"servers.namespace":            "Stands before the server's names, with _ between. Empty leaves them as they are.",
		"servers.name":                 "What policies call the server; without, the namespace.",
		"servers.command":              "What starts the server. ${VAR}, ${VAR:-default} and ${file:path} are replaced.",
		"servers.env":                  "Variables that the server gets on top of toolman's. References are replaced.",
		"servers.cwd":                  "The folder that the server is started in, against this file's; without, where toolman was started.",
		"servers.start_timeout":        "How long the first list waits for the server: a duration such as \"10s\", or seconds.",
		"servers.call_timeout":         "How long a call may take: a duration such as \"1m\", or seconds. 0 is without end.",
		"servers.max_concurrent_calls": "How many calls the server has at once; others wait for their turn. 0 is any number.",
		"servers.max_message_bytes":    "The longest message that is taken from the server.",
		"servers.restart":              "Whether a server that has ended is started again.",
		"servers.era":                  "Which revisions of the protocol the server speaks: legacy begins with initialize, modern (2026-07-28) does not; auto finds out.",
		"servers.enabled":              "false leaves the server out.",
		"servers.url":                  "Not available yet.",
		"servers.headers":              "Not available yet.",

		"agent_policies.allowed_servers": "Names and globs of the servers whose items the agent may have.",
		"agent_policies.read_only":       "Whether only tools that say they change nothing are allowed.",
		"agent_policies.tool_overrides":  "By server, names and globs in place of exposed_tools.",

		"default_policy.allow_unknown_tools": "Whether tools of servers without a list are allowed.",

		"task_rules.service":         "Globs on what the agent works on.",
		"task_rules.keywords":        "Words in what it is to do.",
		"task_rules.tools":           "By server, names and globs of tools that are allowed on top.",
		"task_rules.active_toolsets": "What is active at start on top.",
	}
}
