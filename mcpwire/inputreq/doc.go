// Package inputreq knows what servers ask of clients: sampling, elicitation and roots.
//
// A legacy server asks with a request of its own. A modern server answers a request with input
// requests, and the client makes the request again with the answers. An Ask is either of them:
//
//	legacy client, modern server   InputOf     reads the server's result
//	                               Ask.AppendRequest, AddRetry
//	modern client, legacy server   AskOf       reads the server's request, URLAsks its error
//	                               AppendInputRequired, RetryOf
//
// NameAsker names the server in whatever a user reads.
package inputreq
