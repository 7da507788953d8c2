package apps

import (
	"encoding/json"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// Extension is the name of the extension in capabilities.
const Extension = "io.modelcontextprotocol/ui"

// Declared are the capabilities that toolman declares where it speaks for clients that it does not
// know yet. Every tool with a page also works without it, so this harms no client.
var Declared = json.RawMessage(`{"extensions":{"` + Extension + `":{"mimeTypes":["text/html;profile=mcp-app"]}}}`)

// Supported reports whether a client with these capabilities, a JSON object or nil, shows pages.
func Supported(capabilities []byte) bool {
	return mcpwire.ObjectIn(mcpwire.ObjectIn(capabilities, "extensions"), Extension) != nil
}

// extensionTasks is the extension that toolman does not pass on.
const extensionTasks = "io.modelcontextprotocol/tasks"

// ExtensionsOf returns capabilities that consist of the extensions in others, which are a JSON
// object or nil. It returns nil if there are none. Tasks of the modern era are left out, because
// toolman does not pass them on.
func ExtensionsOf(capabilities []byte) json.RawMessage {
	extensions := mcpwire.ObjectIn(capabilities, "extensions")
	if extensions == nil {
		return nil
	}
	m := jsonrpc.Message{Frame: extensions}
	whole := jsonrpc.Span{Hi: len(extensions)}
	tasks, err := m.GetMember(whole, extensionTasks)
	if err != nil {
		return nil
	}
	kept := jsonrpc.AppendSplice(nil, extensions, jsonrpc.AppendRemoval(nil, extensions, whole, tasks)...)
	return append(append([]byte(`{"extensions":`), kept...), '}')
}

// WithExtensions returns capabilities without extensions, which are a JSON object, with the
// extensions of others.
func WithExtensions(capabilities, others []byte) json.RawMessage {
	extensions := ExtensionsOf(others)
	if extensions == nil {
		return capabilities
	}
	members := extensions[1 : len(extensions)-1]
	for range jsonrpc.Members(capabilities, jsonrpc.Span{Hi: len(capabilities)}) {
		members = append(members, ',')
		break
	}
	return jsonrpc.AppendSplice(nil, capabilities, jsonrpc.Edit{Span: jsonrpc.Span{Lo: 1, Hi: 1}, New: members})
}
