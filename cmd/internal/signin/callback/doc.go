// Package callback receives what an authorization server tells a client through the browser of its
// user: a small HTTP server on this machine gets the redirect, or the user pastes its URL.
//
// # Rules
//
// The server listens on loopback addresses alone. It answers 404 to whatever is not a GET of
// exactly the redirect URI, for its own host, with the state of this login, which is compared in
// constant time; such a request does not end the wait, so that no web page can end it. The first
// request with the state is the answer, and there is no second one. Its iss is checked before
// anything else in it counts (RFC 9207). The page for the user is static and repeats nothing.
package callback
