// Package input handles requests for client input, which upstream servers send. Package confirm
// uses it to ask questions of toolman's own.
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
// toolman signs the request state that a modern client returns (signer.go). A retry of a call of a
// dangerous tool also needs a permit (permits.go).
//
// The methods of Requests require the session's Conn.Mu, except those that handle a message of a
// server.
package input
