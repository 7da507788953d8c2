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
// replaces it, and that happens even if the process is killed in between: an authorization server
// that issues a new refresh token usually accepts the old one never again.
package logins
