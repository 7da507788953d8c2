// Package play is the command `toolman trace play`: an MCP server that answers from a recording.
//
// # Requests
//
// A request is answered as the recorded call with the same method, name and canonical arguments;
// see package compare for the rules by which arguments may differ. If the client made the same
// request several times, the recorded answers come in order, and then the last one again. The next
// round of a call that asked for input is the one with the same requestState. An unknown request
// gets an error that names the closest recorded one.
//
// # What comes with an answer
//
// The script of the recorded call is played: its progress under the caller's token, its log
// messages, and its requests for input. What had come after the client's answer waits for the
// answer of this client, which is compared with the recorded one. A call that was cancelled is not
// answered before it is cancelled again.
//
// What the server had sent by itself comes after what it had come after: a message of the client
// that has come again, or of the server that was sent again.
package play
