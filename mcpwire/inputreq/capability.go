package inputreq

import (
	"encoding/json"

	"toolman/mcpwire"
)

// Lacks returns the capability that a client needs to be asked for input by this method and with
// these params, but does not have: a JSON object such as {"elicitation":{"url":{}}}, ready for
// MissingCapability; "" if nothing is missing. Capabilities and params are JSON objects, or nil.
func Lacks(capabilities []byte, method mcpwire.Method, params []byte) string {
	name, part := "", ""
	switch {
	case method == mcpwire.ListRoots:
		name = "roots"
	case method == mcpwire.CreateMessage && usesTools(params):
		name, part = "sampling", "tools"
	case method == mcpwire.CreateMessage:
		name = "sampling"
	case method == mcpwire.Elicit && byURL(params):
		name, part = "elicitation", "url"
	case method == mcpwire.Elicit:
		// A client that names no mode means forms (2025-11-25 and 2026-07-28, Elicitation,
		// Capabilities).
		name = "elicitation"
		if mcpwire.ObjectIn(mcpwire.ObjectIn(capabilities, name), "url") != nil {
			part = "form"
		}
	default:
		return "{}" // no client can be asked this
	}
	declared := mcpwire.ObjectIn(capabilities, name)
	switch {
	case part != "" && mcpwire.ObjectIn(declared, part) == nil:
		return `{"` + name + `":{"` + part + `":{}}}`
	case declared == nil:
		return `{"` + name + `":{}}`
	}
	return ""
}

// AskedSince returns the oldest revision in which a client can be asked this, with these params,
// which are a JSON object or nil.
func AskedSince(method mcpwire.Method, params []byte) string {
	switch {
	case method == mcpwire.Elicit && byURL(params), method == mcpwire.CreateMessage && usesTools(params):
		return mcpwire.V2025_11_25
	case method == mcpwire.Elicit:
		return mcpwire.V2025_06_18
	}
	return mcpwire.V2024_11_05
}

// byURL reports whether the params of an elicitation send the user to a URL.
func byURL(params []byte) bool {
	m, at, err := mcpwire.MemberOf(params, "mode")
	return err == nil && string(m.Text(at)) == "url"
}

// usesTools reports whether the params of a sampling request name tools.
func usesTools(params []byte) bool {
	return has(params, "tools") || has(params, "toolChoice")
}

// has reports whether an object has a member.
func has(object []byte, key string) bool {
	_, at, err := mcpwire.MemberOf(object, key)
	return err != nil || at.Present()
}

// CanElicit reports whether a client with these capabilities, a JSON object, has a user who can be
// asked something.
func CanElicit(capabilities []byte) bool { return has(capabilities, "elicitation") }

// CanBeAsked reports whether servers can ask a client with these capabilities, a JSON object,
// anything.
func CanBeAsked(capabilities []byte) bool {
	return has(capabilities, "elicitation") || has(capabilities, "sampling") || has(capabilities, "roots")
}

// askable are the capabilities that let servers ask a client something, with the parts of each that
// the specification knows (2025-11-25 and 2026-07-28, Client Features).
var askable = [...]struct {
	name  string
	parts []string
}{{"elicitation", []string{"form", "url"}}, {"sampling", []string{"context", "tools"}}, {"roots", nil}}

// Askable returns the part of a client's capabilities, a JSON object, that lets servers ask it
// something. Two clients that can be asked the same have equal ones.
func Askable(capabilities []byte) json.RawMessage {
	out := []byte{'{'}
	member := func(name string) {
		if out[len(out)-1] != '{' {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), name...), `":{`...)
	}
	for _, a := range askable {
		declared := mcpwire.ObjectIn(capabilities, a.name)
		if declared == nil {
			continue
		}
		member(a.name)
		for _, part := range a.parts {
			if mcpwire.ObjectIn(declared, part) != nil {
				member(part)
				out = append(out, '}')
			}
		}
		out = append(out, '}')
	}
	return append(out, '}')
}
