package policy

import "strings"

// An Item is what a verdict is about: a tool, resource, resource template or
// prompt.
type Item struct {
	Name    string // as its server has it
	Shown   string // as clients see it
	Full    string // with its namespace; Shown may be shorter
	Effects bool   // it may change something: a tool that does not say it only reads
}

// Qualifies reports whether text names the server's item by both: server:name or
// mcp__server__name.
func Qualifies(text, server, name string) bool {
	before, ok := strings.CutSuffix(text, name)
	if !ok || server == "" {
		return false
	}
	if s, ok := strings.CutSuffix(before, ":"); ok && s == server {
		return true
	}
	s, ok := strings.CutPrefix(before, "mcp__")
	return ok && len(s) == len(server)+2 && s[:len(server)] == server && s[len(server):] == "__"
}

// Addresses reports whether text begins as a name that Qualifies accepts does for
// some item of the server.
func Addresses(text, server string) bool {
	return server != "" && (strings.HasPrefix(text, server+":") || strings.HasPrefix(text, "mcp__"+server+"__"))
}

// qualified are the names that Qualifies accepts.
func qualified(server, name string) []string {
	if server == "" {
		return nil
	}
	return []string{server + ":" + name, "mcp__" + server + "__" + name}
}
