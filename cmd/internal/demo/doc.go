// Package demo is `toolman demo`: a conversation with the real gateway, shown as it happens.
//
// Run writes a tools.toml into a temporary directory, starts toolman on it as a process of its own,
// with the two servers of package demoserver behind it, and talks to it as an MCP client does. It
// shows messages from the trace that the gateway writes, so both sides of the gateway are visible.
// It checks every answer: a demo that runs to its end also tests the build it is part of.
package demo
