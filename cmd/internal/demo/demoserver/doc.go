// Package demoserver holds the two small MCP servers that are built into toolman for `toolman demo`: notes and calc.
//
// They are ordinary stdio servers of the revisions 2024-11-05 to 2025-11-25, written by hand on encoding/json, so that the
// demo shows toolman in front of servers that know nothing of it. Between them they use what MCP offers: tools
// (one slow, with progress; one that ends the server), resources that are subscribed to and change, a template, a prompt,
// completion and log messages.
//
// A server answers requests one after the other, in the order they came; only slow tools run beside that, and can be
// cancelled. Everything is kept in memory and gone with the process.
package demoserver
