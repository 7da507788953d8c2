// Package policy decides which items of which servers an agent may have. Rules
// go in, verdicts come out, each with the rule that decided and where it stands.
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
//	allow_unknown_tools = false                 # what no list is about
//
// # The four steps
//
// The first that applies decides: a server that allowed_servers does not hold is
// closed; the agent's tool_overrides for the server say what is open; then
// exposed_tools for the server do; then allow_unknown_tools does. Without an agent
// the first two do not apply. Of what is open, read_only keeps what has no effects.
//
// # Names
//
// An entry of a list is a name or a glob, in which * matches any characters. It is
// read as a name that the server itself uses, or as server:name or
// mcp__server__name. One that fits none of the server's own names is read as the
// name that clients see. (Of a server search with search_web and delete, search_*
// means search_web alone, although clients see search_delete.)
//
// # Task rules
//
// A [TaskRule] adds to the lists for some services and tasks. It opens no server that is
// closed to the agent, and nothing that has effects to one that is read_only: who
// writes the text of a task does not write the policy.
//
// # Dangerous tools
//
//	dangerous_tools = ["fs_delete*", "github:merge_pull_request"]
//	confirm = "elicit"                          # or "deny", "allow"
//
// An entry is a name or a glob that is compared with every name that a caller may use for
// a tool: namespace_name, as clients see it, server:name, mcp__server__name, and the
// server's own. See [Guard].
//
// Nothing here does I/O, and nothing changes after it is made.
package policy
