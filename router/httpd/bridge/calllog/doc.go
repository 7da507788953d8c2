// Package calllog keeps the latest calls of tools for GET /logs, and reads the logs of calls that
// servers write. A call that is in both is one entry.
//
// # Sources
//
// The bridge adds its own calls with [Log.Add]. Those of MCP clients come from the router: a Log is
// an audit.Recorder. A [File] is what a server writes of its calls.
//
// # Matching
//
// A record in a file is that of a call if both have the same server, tool and input (in canonical
// JSON), if the record was written since toolman uses the file, and if its time is that of the
// call. If it is not, but no other record fits, the server's clock is assumed to be wrong. A record
// that fits no call is an entry of its own.
//
// # Cost
//
// Contents are copied when a call is over. They are redacted when somebody reads the log, or after
// a while.
package calllog
