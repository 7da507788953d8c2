package config

import (
	_ "embed"
)

//go:embed tools.schema.json
var schema []byte

// Schema returns the JSON Schema of tools.toml, indented. It uses the keywords of draft-07, which
// editors' TOML plugins know. Load refuses every file that it refuses; only Load checks globs,
// references and names of servers.
func Schema() []byte { return schema }
