// Package input handles requests for client input. Upstream servers send them, and toolman itself
// asks for confirmation before a dangerous tool runs.
//
// In the legacy era a server sends a request during a call. toolman forwards it to the client under
// another request ID (server_requests.go). In the modern era a server answers the call with an
// InputRequiredResult, and the client repeats the call with the answers (2026-07-28, Multi
// Round-Trip Requests). Where the client and the server are of different eras:
//
//   - For a legacy client of a modern server, toolman sends the requests to the client and repeats
//     the call with the answers (rounds.go).
//   - For a modern client of a legacy server, toolman suspends the call while the server needs
//     input. It answers the client's request with the questions, and the client's next request
//     resumes the call (suspend.go).
//
// toolman signs the request state that a modern client returns (signer.go). A confirmation of a
// dangerous tool reaches the user by the same two ways (confirm.go, confirmation.go).
//
// The methods of Requests require the session's Conn.Mu, except those that handle a message of a
// server.
package input
