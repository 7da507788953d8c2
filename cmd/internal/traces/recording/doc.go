// Package recording reads a session of a trace as what passed between a client and its server: the
// messages in their order, and which of them belong to which call. Of a gateway's trace that is the
// leg to the client, on which toolman is the server; the trace of a tap has no other.
//
// A call is a request of either side. Its script is all that followed within the call: progress,
// log messages, requests for input and their answers, a cancellation, and the response.
package recording
