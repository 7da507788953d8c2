// Package gateway assembles the HTTP front of toolman from the configuration: authentication, the
// MCP endpoint, the bridge for programs without MCP, and the endpoints for operators. It replaces
// what depends on the configuration when the file changes.
package gateway
