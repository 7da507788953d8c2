// Package metatool has toolman's own tools: toolman_activate, toolman_call and those about toolsets. It
// reads their arguments and says what becomes of a call, an [Outcome]; the session does it. It also words
// their definitions, the instructions, and how a client gets at what is not active ([Guidance]).
package metatool
