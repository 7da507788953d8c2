// Package endpoint makes HTTP requests to the MCP endpoint of a server, and explains why they fail.
package endpoint
