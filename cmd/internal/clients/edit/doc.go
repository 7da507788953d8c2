// Package edit reads the configuration files of MCP clients, and adds, replaces and removes one
// entry in them as text: JSON with or without comments, TOML and YAML.
//
// An edit changes the bytes of its entry only. Comments, order, indentation, trailing commas, line
// ends, a byte order mark and unknown keys stay as they are. Each result is parsed and compared
// with what was there before it is returned, so an edit that would change anything else is an error
// instead.
package edit
