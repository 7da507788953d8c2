package metatool

import (
	"strings"

	"toolman/router/catalog"
)

const callDefinition = `{"name":"` + CallTool + `","title":"Call a tool that was switched on","description":` +
	`"Calls any active tool of this server by its name: so can those be used that ` + catalog.ActivateTool + ` has switched on, which are not listed. ` +
	`The answer is that tool's own.","inputSchema":{"type":"object","properties":{` +
	`"name":{"type":"string","description":"Name of the tool, as in the catalog of ` + catalog.ActivateTool + `"},` +
	`"arguments":{"type":"object","description":"The tool's own arguments, as its definition in the reply of ` + catalog.ActivateTool + ` has them"}},` +
	`"required":["name"],"additionalProperties":false}}`

// callToolDefinition returns the definition of toolman_call. It mentions toolman_activate only if
// that tool is offered.
func callToolDefinition(noActivate bool) []byte {
	if !noActivate {
		return []byte(callDefinition)
	}
	return []byte(strings.NewReplacer("that "+catalog.ActivateTool+" has switched on", "that were switched on",
		"the catalog of "+catalog.ActivateTool, catalog.CatalogURI, " in the reply of "+catalog.ActivateTool, " in the reply that switched it on").Replace(callDefinition))
}
