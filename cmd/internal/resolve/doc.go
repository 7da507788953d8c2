// Package resolve writes what of a configuration applies to one agent, service and task, as a
// configuration of its own: toolman resolve.
//
// The result names the agent (agent = "NAME"). Loaded without --agent from the same folder, it
// grants what the original grants with --agent: the same items, confirmations, limits and variables
// of servers. It has only the servers of which the agent may use anything, no task rules, and
// nothing of other agents: no policy, token or permission. The rest, including references, is as it
// was written.
//
// One difference remains. If two servers offer an item under one name, the first server has it. If
// the result lacks that server, the agent gets the item of the other, which its policy allows.
package resolve
