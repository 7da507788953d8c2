// Package toolsfile edits tools.toml as text: it adds, replaces and removes servers. Comments,
// order, line ends, a byte order mark and everything else stay as they are.
//
// A block is what the file says of one server: its [[servers]] or [servers.NAME] table, the tables
// below that, and the comment lines directly above it. A comment behind a blank line belongs to no
// block.
//
// Every edit is checked: the new text is read as toolman reads it, and has to say what the old one
// said, but for the server. Otherwise the edit fails. A file with errors is not edited.
package toolsfile
