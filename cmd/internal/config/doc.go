// Package config reads tools.toml, or JSON with the same keys if the file's name ends in .json, and
// nothing else. tools.schema.json, the JSON Schema of the file, describes every key. See package
// reference for ${…} and for commands.
//
// # Environment
//
// A server inherits the variables of toolman's environment (see [Server.Inherits]), except those
// that begin with TOOLMAN_, and those to which only other tables refer: another server, with any
// key, http, or engine and secrets of cluster. A variable to which the server's own table refers
// stays, in quotes too, since a shell may read it there. PATH, HOME and the like always stay. With
// inherit_env the server inherits only what that lists. A name in it also grants a variable to
// which other servers refer, a glob does not; a name to which http or cluster refers is an error.
//
// # Strictness
//
// An unknown key, a key given twice and a value of the wrong kind are errors. All problems are
// reported at once (see [source.Error]), each with its line. No message holds a value from env or
// from a reference. In a server that is not enabled, keys and kinds are checked and nothing is
// expanded, so that a server can be disabled whose token is missing.
package config
