// Package debugsock connects the viewer page to a running toolman with --debug, over a Unix socket
// that only programs of the same user may use.
//
// The socket is in a directory with mode 0700 and has mode 0600. Both ends also check the user of
// the other. Each line is a JSON object: commands one way, events the other. Each connection has
// rules and held messages of its own, and when it ends, its rules end and its messages go on. Held
// messages are sent as they are, with the secrets in them, because they go on as the user edits
// them.
package debugsock
