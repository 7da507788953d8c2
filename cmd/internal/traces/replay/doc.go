// Package replay is the command `toolman trace replay`: it sends the messages of a recorded client
// to a new server, and compares what the server answers with the recording.
//
// # Order
//
// Messages are sent in the order of the recording, without its pauses. A message waits for the
// responses that had arrived before it; so calls that were concurrent are concurrent again, and the
// others follow each other. It also waits, for a moment only, for what the server had sent by
// itself: requests, list_changed and updated notifications, and the acknowledgement of a
// subscription.
//
// # What is changed in a message
//
// IDs are new. Values that the recorded server made up for the client to send back become those of
// the new server: requestState, cursors and task IDs. A request with inputResponses is sent as the
// next round of its call, with the state of the new server, and only if that asks. Requests of the
// new server are answered with the recorded answer to the same request, or else to the next one of
// the same method.
//
// # What is not sent
//
// Messages of which the trace has only a part, or from which it has removed secrets; the next
// rounds of a call that was not sent, or that did not ask; and, without Options.Yes, calls of tools
// that are not read-only (annotations.readOnlyHint) as the new server says, or the recording if the
// server lists its tools without that one. An Outcome says why.
//
// Notifications are not compared, except the acknowledgement of a subscription: how many there are
// of progress and log messages, and when, is up to the server.
package replay
