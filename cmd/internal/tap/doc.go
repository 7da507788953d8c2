// Package tap is the command `toolman tap`: a transparent proxy between a client and one server,
// which traces what passes through it.
//
// Over stdio, the tap starts the server, and copies each piece of standard input, output and error
// at once, whatever it is:
//
//	client ──▶ pump ──▶ server          The pump gives a copy of each piece to package record,
//	client ◀── pump ◀── server          which never makes it wait.
//	client ◀── pump ◀── server's standard error
//
// The end of a stream is passed on too, and so are signals. When the server has ended, the tap
// passes on the rest, and ends as the server did. The tap writes nothing of its own.
package tap
