// Package clients knows MCP clients: where each has its configuration, how servers are written
// there, and what toolman's own entry looks like.
//
//	place, err := clients.Here()            // this machine; tests make a Place of their own
//	for _, c := range clients.All() {
//		if !c.Detected(place) { continue }  // no trace of the client on this machine
//		for _, f := range c.Files(place) {  // candidates, also those that do not exist
//			entries, err := f.Read()        // *source.Problem with file:line; no file is no entries
//		}
//	}
//	c, err := clients.ByName("claude-code") // the error has a hint: did you mean …?
//
// A [Client] is data; the table of all is in table.go. [Client.Files] resolves the paths for a
// [Place]: its system, its environment variables, such as CODEX_HOME, its home directory and its
// project. A file can appear for several clients: .mcp.json belongs to Claude Code and Copilot CLI.
// [Client.Target] is the file that `toolman install` writes.
//
// [File.Read] returns the servers of a file, each with its line, in the order of the file. Values
// are as the client has them: package clients does not translate variables, and keeps secrets as
// they are. Nothing of them may be printed but names, commands and hosts.
//
// [Client.Entry] is the entry that `toolman install` writes, as an ordered tree, which package
// edit writes in the format of the file.
package clients
