// Package byname reads servers that are in tables by name, as MCP clients write them, and says
// which names can be namespaces.
package byname
