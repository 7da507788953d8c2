// Package confirm asks the user of a client to confirm calls of dangerous tools.
//
// The user sees the whole call: a call that does not fit into the question is refused
// (confirmation.go). A legacy client gets the question as an elicitation request, and package input
// waits for the answer. A modern client gets it as the result of its call and repeats the call with
// the answer (2026-07-28, Multi Round-Trip Requests); a permit of package input lets that happen
// once. Only the action "accept" is consent.
package confirm
