// Package modes decides what the client behind a request is shown: which router.Client it is.
//
//	principal (package guard) ─┬─▶ Modes.Caller ─▶ caller.Caller, or a refusal
//	?config= ──────────────────┘
//
// In the dynamic mode each client has a view of its own and the tools to change it; in the
// static one all have the same, and list_tools. Permissions limit a client to toolsets,
// and it has none of toolman's own tools. A path limits it to one toolset, or has it be an
// agent. Whatever limits comes on top of the agent's policy: all have to allow.
//
// Rules: what is missing, unknown or not understood allows nothing. The key of a Caller (its
// principal and its view) holds all that its rights come from, so that no request finds a session
// that was begun with other rights. What a client says of itself in ?config= is secret: it is in no
// error, and in the view only as a keyed hash.
package modes
