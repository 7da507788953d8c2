package metatool

import (
	"fmt"
	"strings"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
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

// A Through locates the name and arguments of a call of toolman_call and, inside its arguments, the
// name and arguments of the tool to call.
type Through struct{ outer, inner callSpans }

// callSpans are the positions of the name and arguments of a call.
type callSpans struct{ name, arguments jsonrpc.Span }

// ParseThrough parses a call of toolman_call.
func ParseThrough(m *jsonrpc.Message) (t Through, err error) {
	if t.outer.name, _, err = mcpwire.Target(m, mcpwire.ToolsCall); err != nil {
		return t, err
	}
	if t.outer.arguments, err = m.Param("arguments"); err != nil {
		return t, err
	}
	if t.inner.name, err = m.Get(t.outer.arguments, "name"); err != nil {
		return t, err
	}
	if t.inner.arguments, err = m.Get(t.outer.arguments, "arguments"); err != nil {
		return t, err
	}
	return t, t.check(m)
}

const throughForm = CallTool + ` takes {"name": "<tool>", "arguments": {<the tool's own arguments>}}`

// check returns an error if the arguments of toolman_call are wrong. An unknown argument most
// likely belongs into the tool's arguments.
func (t *Through) check(m *jsonrpc.Message) error {
	if !m.IsString(t.inner.name) {
		return fmt.Errorf("arguments.name must be the name of a tool; %s", throughForm)
	}
	if at := t.inner.arguments; at.Present() && !m.IsObject(at) {
		return fmt.Errorf("arguments.arguments must be an object; %s", throughForm)
	}
	for key := range jsonrpc.Members(m.Frame, t.outer.arguments) {
		if key != "name" && key != "arguments" {
			return fmt.Errorf("%q is not a parameter; %s", sanitize.Cut(key, catalog.NameLimit), throughForm)
		}
	}
	if name := string(m.Text(t.inner.name)); name == catalog.ActivateTool || name == CallTool {
		return fmt.Errorf("%s cannot be called by %s; call it directly", name, CallTool)
	}
	return nil
}

// Tool returns the position of the name of the tool to call.
func (t *Through) Tool() jsonrpc.Span { return t.inner.name }

// Frame returns the frame of the direct call of the tool.
func (t *Through) Frame(m *jsonrpc.Message) []byte {
	arguments := []byte("{}")
	if t.inner.arguments.Present() {
		arguments = m.Bytes(t.inner.arguments)
	}
	return jsonrpc.AppendSplice(make([]byte, 0, len(m.Frame)), m.Frame,
		jsonrpc.Edit{Span: t.outer.name, New: m.Bytes(t.inner.name)},
		jsonrpc.Edit{Span: t.outer.arguments, New: arguments})
}
