// Package ops serves what operators of toolman need over HTTP, besides the MCP endpoint.
//
//	GET /healthz                  is the program alive
//	GET /health                   can it serve: {"ok": …}, perhaps with "servers": [{"name": …, "status": …}]
//	GET /metrics                  counts and times for Prometheus
//	GET /.well-known/mcp-config   the JSON Schema of a session's configuration
//
// [Alive] and [Health] need no credential; Health names the servers only to clients that may know
// of them. The others have to be protected, and the metrics, which have the names of all servers
// and agents, additionally by [Only]. [Record] goes around all of them and the MCP endpoint: it
// passes each finished request to the log ([AccessLog]) and to the [Metrics]. [Serve] runs a server
// until it is to end, and then lets calls in flight finish.
//
// Nothing that a client sends becomes a label of a metric. No query, header or body is logged: they
// may contain tokens.
package ops
