package toolsfile

import (
	"path/filepath"
	"strings"

	"toolman/cmd/internal/clients/render"
)

// schemaName is the name of the schema's file, relative to the folder of tools.toml. It is a file,
// and not a URL, so that editors need no network and check what this toolman reads.
const schemaName = ".toolman/tools.schema.json"

// SchemaPath returns where the schema for a tools.toml is.
func SchemaPath(file string) string {
	return filepath.Join(filepath.Dir(file), filepath.FromSlash(schemaName))
}

const header = `#:schema ` + schemaName + `
# The MCP servers behind toolman. toolman check starts them and says what they cost a model;
# toolman help configuration describes every key.

# What is active when a client connects: names and globs of tools as clients see them. The model
# activates the rest itself.
# active_toolsets = [EXAMPLE]
`

// New returns the text of a new tools.toml without servers. namespaces are those of the servers
// that it will have, for an example.
func New(namespaces ...string) []byte {
	examples := []string{`"NAMESPACE_*"`}
	if len(namespaces) > 0 {
		examples = nil
	}
	for _, name := range namespaces[:min(len(namespaces), 2)] {
		examples = append(examples, render.TOMLString(name+"_*"))
	}
	return []byte(strings.Replace(header, "EXAMPLE", strings.Join(examples, ", "), 1))
}
