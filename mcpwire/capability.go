package mcpwire

import "toolman/jsonrpc"

// Lacks returns the capability that a client needs to be asked for input by this
// method and with these params, and that is not in its capabilities: a JSON object
// such as {"elicitation":{"url":{}}}, ready for MissingCapability. It returns "" when
// nothing is missing. Both capabilities and params are JSON objects, or nil.
func Lacks(capabilities []byte, method Method, params []byte) string {
	switch method {
	case ListRoots:
		return lacks(capabilities, "roots", "")
	case CreateMessage:
		if has(params, "tools") || has(params, "toolChoice") {
			return lacks(capabilities, "sampling", "tools")
		}
		return lacks(capabilities, "sampling", "")
	case Elicit:
		return lacksElicitation(capabilities, params)
	}
	return "{}" // no client can be asked that
}

// AskedSince returns the oldest revision in which a client can be asked this, with
// these params, which are a JSON object or nil.
func AskedSince(method Method, params []byte) string {
	switch {
	case method == Elicit && byURL(params), method == CreateMessage && (has(params, "tools") || has(params, "toolChoice")):
		return V2025_11_25
	case method == Elicit:
		return V2025_06_18
	}
	return V2024_11_05
}

// lacksElicitation knows that a client which names no mode means forms
// (2025-11-25 and 2026-07-28, Elicitation, Capabilities).
func lacksElicitation(capabilities, params []byte) string {
	if byURL(params) {
		return lacks(capabilities, "elicitation", "url")
	}
	if lacks(capabilities, "elicitation", "url") == "" {
		return lacks(capabilities, "elicitation", "form")
	}
	return lacks(capabilities, "elicitation", "")
}

// lacks returns what a capability, or a part of it, would be declared with, unless it
// is.
func lacks(capabilities []byte, name, part string) string {
	declared := objectIn(capabilities, name)
	switch {
	case part != "" && objectIn(declared, part) == nil:
		return `{"` + name + `":{"` + part + `":{}}}`
	case declared == nil:
		return `{"` + name + `":{}}`
	}
	return ""
}

// byURL reports whether the params of an elicitation send the user to a URL.
func byURL(params []byte) bool {
	m := jsonrpc.Message{Frame: params}
	mode, err := m.Get(jsonrpc.Span{Hi: len(params)}, "mode")
	return err == nil && string(m.Text(mode)) == "url"
}

func has(object []byte, key string) bool {
	m := jsonrpc.Message{Frame: object}
	at, err := m.Get(jsonrpc.Span{Hi: len(object)}, key)
	return err != nil || at.Present()
}

// objectIn returns a member of an object that is an object itself, or nil.
func objectIn(object []byte, key string) []byte {
	m := jsonrpc.Message{Frame: object}
	at, err := m.Get(jsonrpc.Span{Hi: len(object)}, key)
	if err != nil || !m.IsObject(at) {
		return nil
	}
	return m.Bytes(at)
}
