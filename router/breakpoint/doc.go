// Package breakpoint stops messages on their way, so that a user can look at them, edit, answer,
// delay or drop them, and injects faults by rule.
//
// A Gate is a peer.Handler that stands before another one, where messages come in. It exists only
// with --debug. A Client is a user's connection to the Debugger. Each has its own rules and holds
// its own messages. When it is closed, its rules end and its messages go on.
//
// Nothing waits for a message that is held: a Gate keeps a copy and returns. Later messages pass,
// so the order of the messages of one side changes. A request that its sender cancels meanwhile is
// dropped together with the cancellation. So is every held message of a side that has gone.
//
// What a call costs while it is held: a request of a client that is held has not reached the
// router, so no call_timeout runs. A response of a server that is held keeps its call open, and
// call_timeout runs on.
package breakpoint
