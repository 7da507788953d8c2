// Package modes decides what the client that sends a request sees: it maps the identity of package
// guard to a client.Info.
//
//	identity (package guard) ─┬─▶ Modes.Caller ─▶ presence.Caller, or a presence.Denial
//	?config= ─────────────────┘
//
// In the dynamic mode each client has its own view, and the tools to change it. In the static mode
// all clients have the same view, and list_tools. Permissions limit a client to toolsets; it gets
// none of toolman's own tools then. A path limits a client to one toolset, or makes it an agent.
// Each limit applies in addition to the agent's policy.
//
// Rules: anything missing, unknown or not understood allows nothing. The key of a Caller (its
// principal and its view) contains everything that its rights depend on, so that no request can use
// a session that began with other rights. The settings in ?config= are secret: errors do not
// contain them, and the view only as a keyed hash.
package modes
