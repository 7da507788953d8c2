// Package input is about what clients are asked: by servers, and by toolman itself before a dangerous tool
// runs.
//
// In the legacy era a server sends a request during a call, which passes through under another ID
// (server_requests.go). In the modern era it answers the call with what it needs, and the client repeats
// the call with the answers (2026-07-28, Multi Round-Trip Requests). Where the client and the server are
// of different eras:
//
//   - a legacy client is asked what a modern server needs, and toolman repeats the call (rounds.go);
//   - the call of a modern client is suspended while a legacy server needs input: its request is answered
//     with the questions, and the next request of the client goes on with the call (suspend.go).
//
// What the client brings back is signed (signer.go). A person confirms a call of a dangerous tool in the
// same two ways (confirm.go, confirmation.go).
//
// Methods of Requests need the session's Conn.Mu, but for those that handle a message of a server.
package input
