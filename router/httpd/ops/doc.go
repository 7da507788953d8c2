// Package ops is what those who run toolman over HTTP see of it beside the MCP
// endpoint.
//
//	GET /healthz                  is it alive
//	GET /health                   can it serve: {"ok": …}, perhaps with "servers": [{"name": …, "status": …}]
//	GET /metrics                  counts and times for Prometheus
//	GET /.well-known/mcp-config   the JSON Schema of the configuration
//
// [Alive] and [Health] answer whoever asks, and Health names the servers to those who may
// know of them; the others belong behind whatever decides who may come in, and the metrics, which
// have the names of all servers and agents, behind [Only], too. [Record] goes around all of
// them and the MCP endpoint: it knows what became of each request, and tells it to the
// log ([AccessLog]) and to the [Metrics]. [Serve] runs a server until it is to end,
// and then lets calls under way finish.
//
// Nothing a client sends becomes the label of a metric, and no query, header or body
// is logged: tokens stand there.
package ops
