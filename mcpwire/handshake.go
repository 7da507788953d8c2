package mcpwire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"toolman/jsonrpc"
)

// A Hello is a client's description of itself in initialize. Capabilities and Info are JSON objects
// as they came.
type Hello struct {
	Version      string
	Capabilities json.RawMessage
	Info         json.RawMessage
	Name         string // of Info
	NameVersion  string // of Info
}

// Params returns the params of an initialize that says the same.
func (h *Hello) Params() json.RawMessage {
	params := append([]byte(`{"protocolVersion":`), jsonrpc.AppendQuoted(nil, h.Version)...)
	params = append(append(params, `,"capabilities":`...), cmp.Or(string(h.Capabilities), "{}")...)
	if len(h.Info) > 0 {
		params = append(append(params, `,"clientInfo":`...), h.Info...)
	}
	return append(params, '}')
}

// ParseHello reads the params of initialize. Missing ones stay empty, because toolman serves such a
// client too.
func ParseHello(m *jsonrpc.Message) (h Hello, err error) {
	version, err := stringParam(m, "protocolVersion")
	if err != nil {
		return h, err
	}
	if err := tooLong("params.protocolVersion", version, maxRevision); err != nil {
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
	return bytes.Clone(m.Bytes(at)), tooLong("params."+key, at, maxDeclared)
}

// Has reports whether the client declared a capability.
func (h *Hello) Has(capability string) bool {
	for key := range jsonrpc.Members(h.Capabilities, jsonrpc.Span{Hi: len(h.Capabilities)}) {
		if key == capability {
			return true
		}
	}
	return false
}

// Relayed returns the capabilities to declare to a server: the client's own, without tasks/list,
// which toolman does not pass on.
func (h *Hello) Relayed() json.RawMessage {
	declared := h.declared()
	var edits []jsonrpc.Edit
	for key, at := range jsonrpc.Members(declared, jsonrpc.Span{Hi: len(declared)}) {
		if key == "tasks" {
			edits = without(edits, declared, at, "list")
		}
	}
	return jsonrpc.AppendSplice(nil, declared, edits...)
}

// Claim returns a claim in the client's name. It has all capabilities of the client except tasks,
// which the modern era does not have in this form.
func (h *Hello) Claim(level string) *Claim {
	declared := h.declared()
	edits := without(nil, declared, jsonrpc.Span{Hi: len(declared)}, "tasks")
	return NewClaim(jsonrpc.AppendSplice(nil, declared, edits...), h.Info, level)
}

func (h *Hello) declared() []byte { return []byte(cmp.Or(string(h.Capabilities), "{}")) }

// without appends edits that remove all members with this key from the object at obj.
func without(edits []jsonrpc.Edit, frame []byte, obj jsonrpc.Span, key string) []jsonrpc.Edit {
	m := jsonrpc.Message{Frame: frame}
	var gone []jsonrpc.Member
	for member := range m.Walk(obj) {
		if string(m.Text(jsonrpc.Span{Lo: member.Key.Lo - 1, Hi: member.Key.Hi + 1})) == key {
			gone = append(gone, member)
		}
	}
	return jsonrpc.AppendRemoval(edits, frame, obj, gone...)
}

// InitializeParams are the params of toolman's own initialize request.
type InitializeParams struct {
	ProtocolVersion string          `json:"protocolVersion"`
	Capabilities    json.RawMessage `json:"capabilities"`
	ClientInfo      json.RawMessage `json:"clientInfo"`
}

// An InitializeResult is a server's result of initialize.
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

// OffersFlag reports whether the server declared a capability with this flag set, such as resources
// with subscribe.
func (r *InitializeResult) OffersFlag(capability, flag string) bool {
	var flags map[string]json.RawMessage
	return json.Unmarshal(r.Capabilities[capability], &flags) == nil && string(flags[flag]) == "true"
}

// superset has the members of toolman's capabilities in every revision: all that a server can have.
// toolman declares them before it knows its servers, and cannot change them later. It declares no
// extension that it does not know, because it could not forward the methods of one.
const superset = `"tools":{"listChanged":true},"prompts":{"listChanged":true},` +
	`"resources":{"subscribe":true,"listChanged":true},"logging":{},"completions":{},` +
	`"extensions":{"io.modelcontextprotocol/ui":{}}`

// AppendInitializeResult appends toolman's own result of initialize. toolman is its version.
func AppendInitializeResult(dst []byte, version, toolman, instructions string) []byte {
	capabilities := superset
	if version == Latest { // the only revision that has them
		capabilities += `,"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}`
	}
	return fmt.Appendf(dst, `{"protocolVersion":%s,"capabilities":{%s},"serverInfo":%s,"instructions":%s}`,
		quote(version), capabilities, serverInfo(toolman), quote(instructions))
}

// AppendDiscoverResult appends toolman's own result of server/discover. toolman is its version. The
// result does not list revisions with a handshake, because a client may use any listed one.
func AppendDiscoverResult(dst []byte, toolman, instructions string) []byte {
	dst = AppendComplete(append(dst, '{'), Discover)
	return fmt.Appendf(dst, `"supportedVersions":%s,"capabilities":{%s},"instructions":%s,"_meta":{"%s":%s}}`,
		modernRevisions(), superset, quote(instructions), KeyServerInfo, serverInfo(toolman))
}

// serverInfo returns toolman's Implementation object.
func serverInfo(version string) string {
	return `{"name":"toolman","title":"toolman","version":` + string(quote(version)) + "}"
}

// AppendComplete appends the members with which toolman's own results start in the modern era, each
// with a comma behind it. Lists and resources may not be cached, because an activation changes
// them.
func AppendComplete(dst []byte, method Method) []byte {
	dst = append(dst, completeMember...)
	if cacheable(method) {
		dst = append(append(dst, staleMember...), privateMember...)
	}
	return dst
}

// ParseDiscoverResult reads a server's result of server/discover as an InitializeResult, which has
// the same content. ProtocolVersion is the newest modern revision that toolman speaks too. It is ""
// if there is none and the server needs a handshake. ParseDiscoverResult fails if this is not a
// result of server/discover.
func ParseDiscoverResult(result []byte) (InitializeResult, error) {
	var d struct {
		SupportedVersions []string                   `json:"supportedVersions"`
		Capabilities      map[string]json.RawMessage `json:"capabilities"`
		Instructions      string                     `json:"instructions"`
		Meta              struct {
			ServerInfo json.RawMessage `json:"io.modelcontextprotocol/serverInfo"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(result, &d); err != nil {
		return InitializeResult{}, fmt.Errorf("the answer has a wrong shape: %w", err)
	}
	if d.SupportedVersions == nil {
		return InitializeResult{}, errors.New("the answer lists no supportedVersions")
	}
	r := InitializeResult{ProtocolVersion: Mutual(d.SupportedVersions, Modern), Capabilities: d.Capabilities, Instructions: d.Instructions}
	if json.Unmarshal(d.Meta.ServerInfo, &r.ServerInfo) != nil { // for display only
		r.ServerInfo.Name, r.ServerInfo.Version = "", ""
	}
	return r, nil
}

// ListedVersions returns the revisions that a server lists in an error that refuses another one.
// The code of such an error is -32022, but some older servers use others. modern reports whether
// the error can only come from a server of the modern era; such a server over HTTP may miss a header.
func ListedVersions(err error) (listed []string, modern bool) {
	refused, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		return nil, false
	}
	modern = refused.Code == CodeUnsupportedVersion || refused.Code == CodeHeaderMismatch
	var data struct{ Supported []string }
	if refused.Data == nil || json.Unmarshal(*refused.Data, &data) != nil {
		return nil, modern
	}
	return data.Supported, modern
}
