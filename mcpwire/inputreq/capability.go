package inputreq

import (
	"encoding/json"
	"strings"

	"toolman/mcpwire"
)

// Lacks returns the capability that a client lacks for a request of this method with these params:
// a JSON object such as {"elicitation":{"url":{}}}, ready for MissingCapability, or "" if the
// client lacks nothing. Capabilities and params are JSON objects, or nil.
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
		// A client that declares no mode supports forms (2025-11-25 and 2026-07-28, Elicitation,
		// Capabilities).
		name = "elicitation"
		if mcpwire.ObjectIn(mcpwire.ObjectIn(capabilities, name), "url") != nil {
			part = "form"
		}
	default:
		return "{}" // no client supports this method
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

// RequiredCapability returns the client capability that a server needs to send this request, or ""
// if no revision with a handshake has such a request.
func RequiredCapability(request mcpwire.Method) string {
	switch request {
	case mcpwire.CreateMessage:
		return "sampling"
	case mcpwire.Elicit:
		return "elicitation"
	case mcpwire.ListRoots:
		return "roots"
	case mcpwire.TasksGet, mcpwire.TasksResult, mcpwire.TasksCancel:
		return "tasks"
	}
	return ""
}

// AskedSince returns the oldest revision with requests of this method and these params, which are a
// JSON object or nil.
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

// CanElicit reports whether servers can ask the user of a client with these capabilities, a JSON
// object.
func CanElicit(capabilities []byte) bool { return has(capabilities, "elicitation") }

// CanBeAsked reports whether servers can send any request to a client with these capabilities, a
// JSON object.
func CanBeAsked(capabilities []byte) bool {
	return has(capabilities, "elicitation") || has(capabilities, "sampling") || has(capabilities, "roots")
}

// askable are the capabilities for requests of servers, with the parts of each in the specification
// (2025-11-25 and 2026-07-28, Client Features).
var askable = [...]struct {
	name  string
	parts []string
}{{"elicitation", []string{"form", "url"}}, {"sampling", []string{"context", "tools"}}, {"roots", nil}}

// Askable returns the part of a client's capabilities, a JSON object, that is about requests of
// servers. It is equal for two clients that support the same requests.
func Askable(capabilities []byte) json.RawMessage {
	var members []string
	for _, a := range askable {
		declared := mcpwire.ObjectIn(capabilities, a.name)
		if declared == nil {
			continue
		}
		var parts []string
		for _, part := range a.parts {
			if mcpwire.ObjectIn(declared, part) != nil {
				parts = append(parts, `"`+part+`":{}`)
			}
		}
		members = append(members, `"`+a.name+`":{`+strings.Join(parts, ",")+`}`)
	}
	return json.RawMessage("{" + strings.Join(members, ",") + "}")
}
