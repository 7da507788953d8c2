// Package policy decides which items of which servers an agent may use. [Rules] go in, a [Verdict]
// comes out for each item, with the rule that decided and its place in the file.
//
// The rules are those of tools.toml:
//
//	[exposed_tools]                             # for every agent
//	github = ["get_*", "create_issue"]
//
//	[agent_policies.reviewer]
//	allowed_servers = ["github", "git"]         # all others are closed
//	read_only = true
//
//	[agent_policies.reviewer.tool_overrides]    # instead of exposed_tools
//	github = ["get_*", "list_*"]
//
//	[default_policy]
//	allow_unknown_tools = false                 # for servers that no list is about
//
// # Steps
//
// The first of these steps that applies decides:
//
//  1. A server that is not in allowed_servers is closed.
//  2. If the agent has tool_overrides for the server, these are its open items.
//  3. If there are exposed_tools for the server, these are its open items.
//  4. allow_unknown_tools opens or closes all items.
//
// Without an agent, the first two do not apply. With read_only, open tools that may have effects
// are closed too.
//
// # Names
//
// An entry of a list is a name or a glob, in which * matches any characters. It is compared with
// the server's own names, and with server:name and mcp__server__name. If it matches none of the
// server's own names, it is also compared with the names that clients see. (If server search has
// search_web and delete, search_* matches only search_web, although clients see search_delete.)
//
// # Task rules
//
// A [TaskRule] extends the lists for some services and tasks. It does not open a server that is
// closed to the agent, and with read_only it opens nothing that may have effects: the author of a
// task's text is not the author of the policy.
//
// # Dangerous tools
//
//	dangerous_tools = ["fs_delete*", "github:merge_pull_request"]
//	confirm = "elicit"                          # or "deny", "allow"
//
// An entry is a name or a glob. It is compared with every name that a caller may use for a tool:
// namespace_name, the name that clients see, server:name, mcp__server__name, and the server's own.
// See [Dangers].
//
// The package does no I/O. Its values do not change after they are made.
package policy
