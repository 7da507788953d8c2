package table

import (
	"strings"

	"toolman/mcpwire/sanitize"
	"toolman/router/suggest"
)

// DidYouMean returns the known name that is like name, with what belongs before it, as a hint, or
// else the other hint.
func DidYouMean(name string, known []string, before, otherwise string) string {
	if near := suggest.Nearest(name, known); near != "" {
		return "did you mean " + before + sanitize.Line(near) + "?"
	}
	return otherwise
}

// insteadOf returns what to write instead of an unknown key.
func insteadOf(key string, known []string) string {
	if hint := elsewhere()[key]; hint != "" {
		return hint
	}
	return DidYouMean(key, known, "", "the keys here are "+strings.Join(known, ", "))
}

// elsewhere returns hints for keys of the configurations of MCP clients.
func elsewhere() map[string]string {
	return map[string]string{
		"mcpServers":  "servers are listed under servers, each with its namespace and command",
		"mcp_servers": "servers are listed under servers, each with its namespace and command",
		"args":        "write the arguments after the program, in command",
		"disabled":    "enabled = false switches a server off",
		"environment": "variables for a server are in env",
		"timeout":     "there are start_timeout and call_timeout",
		"type":        "leave it out: a server is started by its command and speaks over stdio",
		"transport":   "leave it out: a server is started by its command and speaks over stdio",
	}
}
