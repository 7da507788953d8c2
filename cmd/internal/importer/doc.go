// Package importer plans which servers of clients become servers of a tools.toml: it reads the
// clients' files, leaves out toolman itself, disabled servers and what toolman cannot have,
// recognizes the same server of several clients and of tools.toml, and chooses namespaces. It
// changes nothing.
package importer
