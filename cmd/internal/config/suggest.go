package config

import (
	"strings"

	"toolman/router/suggest"
)

// insteadOf says what to write instead of a key that is none of the known ones.
func insteadOf(key string, known []string) string {
	if hint := elsewhere(key); hint != "" {
		return hint
	}
	if near := suggest.Nearest(key, known); near != "" {
		return "did you mean " + near + "?"
	}
	return "the keys here are " + strings.Join(known, ", ")
}

// elsewhere is about keys that MCP clients' own configurations have.
func elsewhere(key string) string {
	switch key {
	case "mcpServers", "mcp_servers":
		return "servers are listed under servers, each with its namespace and command"
	case "args":
		return "write the arguments after the program, in command"
	case "disabled":
		return "enabled = false switches a server off"
	case "environment":
		return "variables for a server are in env"
	case "timeout":
		return "there are start_timeout and call_timeout"
	case "type", "transport":
		return "leave it out: a server is started by its command and speaks over stdio"
	}
	return ""
}
