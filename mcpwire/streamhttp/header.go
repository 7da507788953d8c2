package streamhttp

import (
	"encoding/base64"
	"net/http"
	"strings"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// Headers of the transport.
const (
	HeaderVersion   = "Mcp-Protocol-Version"
	HeaderSession   = "Mcp-Session-Id" // legacy only
	HeaderLastEvent = "Last-Event-Id"  // legacy only
	HeaderMethod    = "Mcp-Method"     // modern only, as those that follow
	HeaderName      = "Mcp-Name"
	HeaderParam     = "Mcp-Param-" // and the name that x-mcp-header gives
)

const (
	base64Start = "=?base64?"
	base64End   = "?="
)

// EncodeHeader returns text as the value of a header: as it is where it can stand in one,
// and in its Base64 form where not (2026-07-28, Streamable HTTP, Value Encoding).
func EncodeHeader(text string) string {
	if plain(text) && !(strings.HasPrefix(text, base64Start) && strings.HasSuffix(text, base64End)) {
		return text
	}
	return base64Start + base64.StdEncoding.EncodeToString([]byte(text)) + base64End
}

// DecodeHeader is the inverse of EncodeHeader. ok is false where the Base64 form holds no
// Base64.
func DecodeHeader(value string) (text string, ok bool) {
	value = strings.Trim(value, " \t")
	inner, found := strings.CutPrefix(value, base64Start)
	if found {
		inner, found = strings.CutSuffix(inner, base64End)
	}
	if !found {
		return value, true
	}
	decoded, err := base64.StdEncoding.DecodeString(inner)
	return string(decoded), err == nil
}

// plain reports whether text survives as the value of a header.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < 0x20 && c != '\t') || c > 0x7e {
			return false
		}
	}
	return strings.Trim(text, " \t") == text
}

// token reports whether text is a token (RFC 9110, 5.6.2), as names of headers are.
func token(text string) bool {
	for i := range len(text) {
		c := text[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0:
		default:
			return false
		}
	}
	return text != ""
}

// NameOf returns what the header Mcp-Name of a modern message has to be, before it is
// encoded; ok is false for messages that have none.
func NameOf(m *jsonrpc.Message, method mcpwire.Method) (name []byte, ok bool) {
	key := ""
	switch method {
	case mcpwire.ToolsCall, mcpwire.PromptsGet:
		key = "name"
	case mcpwire.ResourcesRead:
		key = "uri"
	case mcpwire.TasksGet, mcpwire.TasksCancel, "tasks/update":
		key = "taskId"
	default:
		return nil, false
	}
	at, err := m.Param(key)
	if err != nil || !m.IsString(at) {
		return nil, false
	}
	return m.Text(at), true
}

// setModern sets the headers that mirror a modern message.
func (p *post) setModern(h http.Header, params *paramHeaders) {
	h.Set(HeaderVersion, p.version)
	h.Set(HeaderMethod, EncodeHeader(string(p.method)))
	name, ok := NameOf(&p.msg, p.method)
	if !ok {
		return
	}
	h.Set(HeaderName, EncodeHeader(string(name)))
	if p.method == mcpwire.ToolsCall {
		params.set(h, &p.msg, string(name))
	}
}
