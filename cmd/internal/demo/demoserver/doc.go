// Package demoserver holds the two small MCP servers that are built into toolman for `toolman
// demo`: notes and calc.
//
// They are ordinary stdio servers of the revisions 2024-11-05 to 2025-11-25. Together they use most
// of MCP: tools (one slow, with progress; one that ends the server), resources that are subscribed
// to and change, a template, a prompt, completion and log messages.
//
// A server answers requests one after the other, in the order they came. Slow tools run in the
// background and can be cancelled. Everything is kept in memory.
//
// NAME.json holds the results that are always the same, by method.
package demoserver
