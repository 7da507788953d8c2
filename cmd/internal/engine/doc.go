// Package engine opens what a router runs on, the log, the trace, the audit log, the event loop
// and the process that ends orphaned servers, and closes it again. It also starts servers for
// commands that have no client, and shows how they start.
package engine
