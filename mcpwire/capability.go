package mcpwire

import (
	"encoding/json"

	"toolman/jsonrpc"
)

// Lacks returns the capability that a client needs to be asked for input by this method and with
// these params, but does not have: a JSON object such as {"elicitation":{"url":{}}}, ready for
// MissingCapability; "" if nothing is missing. Capabilities and params are JSON objects, or nil.
func Lacks(capabilities []byte, method Method, params []byte) string {
	name, part := "", ""
	switch {
	case method == ListRoots:
		name = "roots"
	case method == CreateMessage && usesTools(params):
		name, part = "sampling", "tools"
	case method == CreateMessage:
		name = "sampling"
	case method == Elicit && byURL(params):
		name, part = "elicitation", "url"
	case method == Elicit:
		// A client that names no mode means forms (2025-11-25 and 2026-07-28, Elicitation,
		// Capabilities).
		name = "elicitation"
		if objectIn(objectIn(capabilities, name), "url") != nil {
			part = "form"
		}
	default:
		return "{}" // no client can be asked this
	}
	declared := objectIn(capabilities, name)
	switch {
	case part != "" && objectIn(declared, part) == nil:
		return `{"` + name + `":{"` + part + `":{}}}`
	case declared == nil:
		return `{"` + name + `":{}}`
	}
	return ""
}

// AskedSince returns the oldest revision in which a client can be asked this, with these params,
// which are a JSON object or nil.
func AskedSince(method Method, params []byte) string {
	switch {
	case method == Elicit && byURL(params), method == CreateMessage && usesTools(params):
		return V2025_11_25
	case method == Elicit:
		return V2025_06_18
	}
	return V2024_11_05
}

// byURL reports whether the params of an elicitation send the user to a URL.
func byURL(params []byte) bool {
	m, at, err := memberOf(params, "mode")
	return err == nil && string(m.Text(at)) == "url"
}

// usesTools reports whether the params of a sampling request name tools.
func usesTools(params []byte) bool {
	for _, key := range [...]string{"tools", "toolChoice"} {
		if _, at, err := memberOf(params, key); err != nil || at.Present() {
			return true
		}
	}
	return false
}

// memberOf returns where a member of an object is, in a message that has the object as its frame.
func memberOf(object []byte, key string) (m jsonrpc.Message, at jsonrpc.Span, err error) {
	m.Frame = object
	at, err = m.Get(jsonrpc.Span{Hi: len(object)}, key)
	return m, at, err
}

// objectIn returns a member of an object that is an object itself, or nil.
func objectIn(object []byte, key string) []byte {
	m, at, err := memberOf(object, key)
	if err != nil || !m.IsObject(at) {
		return nil
	}
	return m.Bytes(at)
}

// CanElicit reports whether a client with these capabilities, a JSON object, has a user who can be
// asked something.
func CanElicit(capabilities []byte) bool { return declares(capabilities, "elicitation") }

// CanBeAsked reports whether servers can ask a client with these capabilities, a JSON object,
// anything.
func CanBeAsked(capabilities []byte) bool {
	return declares(capabilities, "elicitation") || declares(capabilities, "sampling") || declares(capabilities, "roots")
}

func declares(capabilities []byte, capability string) bool {
	for key := range jsonrpc.Members(capabilities, jsonrpc.Span{Hi: len(capabilities)}) {
		if key == capability {
			return true
		}
	}
	return false
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
		declared := objectIn(capabilities, a.name)
		if declared == nil {
			continue
		}
		member(a.name)
		for _, part := range a.parts {
			if objectIn(declared, part) != nil {
				member(part)
				out = append(out, '}')
			}
		}
		out = append(out, '}')
	}
	return append(out, '}')
}

// Relayed returns the capabilities to declare to a server: the client's own, without tasks/list,
// which toolman does not pass on.
func (h *Hello) Relayed() json.RawMessage {
	return appendMembers(nil, h.Capabilities, func(out []byte, key string, value []byte) []byte {
		if key == "tasks" && value[0] == '{' {
			return appendMembers(out, value, leaveOut("list"))
		}
		return append(out, value...)
	})
}

// Claim returns the claim in the client's name. It has all of the client's capabilities but tasks,
// which the modern era does not have in this form.
func (h *Hello) Claim(level string) *Claim {
	return NewClaim(appendMembers(nil, h.Capabilities, leaveOut("tasks")), h.Info, level)
}

// leaveOut returns a function for appendMembers that leaves out one member.
func leaveOut(left string) func(dst []byte, key string, value []byte) []byte {
	return func(dst []byte, key string, value []byte) []byte {
		if key == left {
			return nil
		}
		return append(dst, value...)
	}
}

// appendMembers appends an object again, with each value as f appends it. A member for which f
// returns nil is left out.
func appendMembers(dst []byte, obj []byte, f func(dst []byte, key string, value []byte) []byte) []byte {
	dst = append(dst, '{')
	first := true
	for key, at := range jsonrpc.Members(obj, jsonrpc.Span{Hi: len(obj)}) {
		next := dst
		if !first {
			next = append(next, ',')
		}
		next = append(jsonrpc.AppendQuoted(next, key), ':')
		if next = f(next, key, obj[at.Lo:at.Hi]); next != nil {
			dst, first = next, false
		}
	}
	return append(dst, '}')
}
