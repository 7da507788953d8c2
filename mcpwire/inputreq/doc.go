// Package inputreq translates the requests of servers to clients between the eras: sampling,
// elicitation and roots.
//
// A legacy server sends a request of its own. A modern server responds to a request with input
// requests, and the client sends the request again with the answers. An Ask is either of them:
//
//	legacy client, modern server   InputOf     reads the server's result
//	                               Ask.AppendRequest, AddRetry
//	modern client, legacy server   AskOf       reads the server's request, URLAsks its error
//	                               AppendInputRequired, RetryOf
//
// NameAsker puts the server's name into the messages that a user reads.
package inputreq
