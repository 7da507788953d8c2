// Package demo is `toolman demo`: a conversation with the real gateway, shown as it happens.
//
// Run writes a tools.toml into a temporary directory, starts toolman on it as a process of its own, with the two servers of
// package demoserver behind it, and talks to it over its pipes as an MCP client does. What it shows of the wire comes from
// the trace that the gateway writes, so both sides of the gateway are seen. Every answer is checked: a demo that runs to its
// end is also a test of the build it is part of.
package demo
