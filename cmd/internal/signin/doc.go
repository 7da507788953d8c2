// Package signin logs a user in to a remote MCP server by OAuth: it asks the server what it wants,
// finds its authorization server (package discovery), registers toolman there as a client, has the
// user approve it in a browser (package callback) or on another device, exchanges the code, and
// saves the login (package logins). It also revokes logins.
//
//	probe ─▶ discovery ─▶ client ─▶ authorization URL ─▶ callback ─▶ token request ─▶ file
//
// # Rules
//
// What was found is looked up anew for each login. Registered clients belong to their issuer and
// redirect URI, and a client_id of the configuration to the issuer of its first login: another
// server never gets its secret. A registration stays for the next login, however this one ends. The
// next one registers anew only if the authorization server did not accept the client, or if there
// was no answer for one that an earlier login had registered. State and verifier have 32 random
// bytes. Codes, tokens, verifiers and secrets are in no error and no text for the user; what an
// authorization server says is shown as one short line, and of a redirect only if its iss is right.
package signin
