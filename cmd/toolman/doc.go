// Toolman is one MCP server in front of many. This package holds its commands; the packages below
// cmd/internal do their work.
package main
