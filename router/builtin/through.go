package builtin

import (
	"fmt"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/catalog"
	"toolman/router/metatool"
)

// A through locates the name and arguments of a call of toolman_call and, inside its arguments, the
// name and arguments of the tool to call.
type through struct{ outer, inner callSpans }

// callSpans are the positions of the name and arguments of a call.
type callSpans struct{ name, arguments jsonrpc.Span }

// parseThrough parses a call of toolman_call.
func parseThrough(m *jsonrpc.Message) (t through, err error) {
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

const throughForm = metatool.CallTool + ` takes {"name": "<tool>", "arguments": {<the tool's own arguments>}}`

// check returns an error if the arguments of toolman_call are wrong. An unknown argument most
// likely belongs into the tool's arguments.
func (t *through) check(m *jsonrpc.Message) error {
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
	if name := string(m.Text(t.inner.name)); name == catalog.ActivateTool || name == metatool.CallTool {
		return fmt.Errorf("%s cannot be called by %s; call it directly", name, metatool.CallTool)
	}
	return nil
}

// tool returns the position of the name of the tool to call.
func (t *through) tool() jsonrpc.Span { return t.inner.name }

// frame returns the frame of the direct call of the tool.
func (t *through) frame(m *jsonrpc.Message) []byte {
	arguments := []byte("{}")
	if t.inner.arguments.Present() {
		arguments = m.Bytes(t.inner.arguments)
	}
	return jsonrpc.AppendSplice(make([]byte, 0, len(m.Frame)), m.Frame,
		jsonrpc.Edit{Span: t.outer.name, New: m.Bytes(t.inner.name)},
		jsonrpc.Edit{Span: t.outer.arguments, New: arguments})
}
