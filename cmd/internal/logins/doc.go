// Package logins keeps the OAuth logins of a user to remote MCP servers, each in a file that every
// toolman of this user shares, and authorizes requests with them.
//
// # Files
//
// A login belongs to the URL of a server, an account and an agent. Its file is HOST-HASH.json in the
// folder of $TOOLMAN_LOGINS, or else in the user's state folder. The mode of the file is 0600, that
// of the folder 0700; a looser one is repaired and warned of. A file of another user, one that is
// damaged and one of a version that is not known are errors, and are never overwritten.
//
// Files are replaced whole, so that readers need no lock. A change is made under a lock across
// processes, after the file has been read again. The new text is written beside the file before it
// replaces it. If the process is killed in between, the next change completes that.
//
// # Renewal
//
// An authorization server that issues a new refresh token usually accepts the old one never again,
// and may take an old one for a theft, and revoke the login. So nothing may come between the request
// and the file. A process of its own sends the request and saves the tokens: toolman with the hidden
// command __renew. It goes on when the toolman that has started it is killed, as some clients do, and
// ends when the file is written, or no later than its time limits say. It gets what it needs over a
// pipe, and the outcome goes back over another one. On Windows, and where such a process cannot be
// started, toolman renews the token itself. A login is still lost if the whole machine or container
// ends in between.
package logins
