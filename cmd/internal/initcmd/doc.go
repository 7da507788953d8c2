// Package initcmd is toolman init and toolman import: they put the servers of MCP clients into
// tools.toml. Init also starts the servers once, to show what they cost a model, and registers
// toolman in the clients in their place. All changes are planned first, shown, and then made
// together or not at all.
package initcmd
