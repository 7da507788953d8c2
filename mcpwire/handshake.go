package mcpwire

import (
	"encoding/json"

	"toolman/jsonrpc"
)

// Hello is what a client says of itself in initialize. Capabilities and Info are
// JSON objects as they came.
type Hello struct {
	Version      string
	Capabilities json.RawMessage
	Info         json.RawMessage
	Name         string // of Info
	NameVersion  string // of Info
}

// ParseHello reads the params of initialize. What is missing stays empty: a
// client that says little is still served.
func ParseHello(m *jsonrpc.Message) (Hello, error) {
	var h Hello
	version, err := stringParam(m, "protocolVersion")
	if err != nil {
		return h, err
	}
	if err := tooLong("params.protocolVersion", version.Hi-version.Lo, MaxRevision); err != nil {
		return h, err
	}
	h.Version = string(m.Text(version))
	if h.Capabilities, err = objectParam(m, "capabilities"); err != nil {
		return h, err
	}
	if h.Info, err = objectParam(m, "clientInfo"); err != nil {
		return h, err
	}
	var info struct{ Name, Version string }
	if h.Info != nil && json.Unmarshal(h.Info, &info) == nil {
		h.Name, h.NameVersion = info.Name, info.Version
	}
	return h, nil
}

func objectParam(m *jsonrpc.Message, key string) (json.RawMessage, error) {
	at, err := m.Param(key)
	if err != nil || !m.IsObject(at) {
		return nil, err
	}
	if err := tooLong("params."+key, at.Hi-at.Lo, MaxDeclared); err != nil {
		return nil, err
	}
	return append(json.RawMessage(nil), m.Bytes(at)...), nil
}

// Has reports whether the client declared a capability.
func (h *Hello) Has(capability string) bool { return declares(h.Capabilities, capability) }

// CanElicit reports whether a client with these capabilities, a JSON object, has a user who can be
// asked something.
func CanElicit(capabilities []byte) bool { return declares(capabilities, "elicitation") }

func declares(capabilities []byte, capability string) bool {
	for key := range jsonrpc.Members(capabilities, jsonrpc.Span{Hi: len(capabilities)}) {
		if key == capability {
			return true
		}
	}
	return false
}

// CanBeAsked reports whether a client with these capabilities, a JSON object, can be asked
// anything by a server.
func CanBeAsked(capabilities []byte) bool {
	for key := range jsonrpc.Members(capabilities, jsonrpc.Span{Hi: len(capabilities)}) {
		if key == "elicitation" || key == "sampling" || key == "roots" {
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

// Askable returns what of a client's capabilities, a JSON object, lets servers ask it something. Two
// clients that can be asked the same have equal ones, whatever else they say of themselves.
func Askable(capabilities []byte) json.RawMessage {
	out := []byte{'{'}
	comma := func() {
		if out[len(out)-1] != '{' {
			out = append(out, ',')
		}
	}
	for _, a := range askable {
		declared := objectIn(capabilities, a.name)
		if declared == nil {
			continue
		}
		comma()
		out = append(append(append(out, '"'), a.name...), `":{`...)
		for _, part := range a.parts {
			if objectIn(declared, part) != nil {
				comma()
				out = append(append(append(out, '"'), part...), `":{}`...)
			}
		}
		out = append(out, '}')
	}
	return append(out, '}')
}

// Relayed returns the capabilities to declare to an upstream server: the
// client's own, without tasks/list, which toolman does not pass on.
func (h *Hello) Relayed() json.RawMessage {
	return appendMembers(nil, h.Capabilities, func(out []byte, key string, value []byte) []byte {
		if key == "tasks" && value[0] == '{' {
			return appendMembers(out, value, func(out []byte, key string, value []byte) []byte {
				if key == "list" {
					return nil
				}
				return append(out, value...)
			})
		}
		return append(out, value...)
	})
}

// appendMembers appends an object again, with each value as f appends it; a
// member for which f returns nil is left out.
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

// InitializeParams are the params of an initialize request of ours.
type InitializeParams struct {
	ProtocolVersion string          `json:"protocolVersion"`
	Capabilities    json.RawMessage `json:"capabilities"`
	ClientInfo      json.RawMessage `json:"clientInfo"`
}

// InitializeResult is what an upstream server answers to initialize.
type InitializeResult struct {
	ProtocolVersion string                     `json:"protocolVersion"`
	Capabilities    map[string]json.RawMessage `json:"capabilities"`
	ServerInfo      struct{ Name, Version string }
	Instructions    string
}

// Offers reports whether the server declared a capability.
func (r *InitializeResult) Offers(capability string) bool {
	_, ok := r.Capabilities[capability]
	return ok
}

// AppendInitializeResult appends toolman's own answer to initialize. Its
// capabilities are all that any upstream may turn out to have: it is given
// before they are known, and cannot be amended.
func AppendInitializeResult(dst []byte, version, toolman, instructions string) []byte {
	dst = append(dst, `{"protocolVersion":`...)
	dst = jsonrpc.AppendQuoted(dst, version)
	dst = append(dst, `,"capabilities":{`+superset...)
	if version == Latest { // the only revision that has them
		dst = append(dst, `,"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}`...)
	}
	dst = append(dst, `},"serverInfo":`...)
	dst = appendServerInfo(dst, toolman)
	dst = append(dst, `,"instructions":`...)
	dst = jsonrpc.AppendQuoted(dst, instructions)
	return append(dst, '}')
}

// superset are the members of toolman's capabilities in every revision.
const superset = `"tools":{"listChanged":true},"prompts":{"listChanged":true},` +
	`"resources":{"subscribe":true,"listChanged":true},"logging":{},"completions":{}`

// appendServerInfo appends what toolman says of itself; version is its own.
func appendServerInfo(dst []byte, version string) []byte {
	dst = append(dst, `{"name":"toolman","title":"toolman","version":`...)
	return append(jsonrpc.AppendQuoted(dst, version), '}')
}
