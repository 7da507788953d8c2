// Package calls keeps the requests that an upstream server has not answered.
//
// A Call is a request of a client, or of toolman itself, with what is needed to answer it. The
// Table of a server gives each request an ID of its own, lets requests wait for their turn if the
// server takes only so many at once, ends those that take too long, and tells a late response from
// one that nobody has asked for. Only the code that takes a call out of the table may answer it.
//
// A Call knows its client by the interface Caller, and a Table its connection by Conn.
package calls
