package httpheader

import (
	"encoding/base64"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// Headers of the transports, as net/http spells them.
const (
	Version   = "Mcp-Protocol-Version"
	Session   = "Mcp-Session-Id" // legacy only
	LastEvent = "Last-Event-Id"  // legacy only
	Method    = "Mcp-Method"     // modern only, like those that follow
	Name      = "Mcp-Name"
	Param     = "Mcp-Param-" // followed by the name that x-mcp-header gives
)

// Media types of messages.
const (
	JSON        = "application/json"
	EventStream = "text/event-stream"
)

// MediaType returns the media type of a body without parameters, "" if the header names none.
func MediaType(h http.Header) string {
	kind := h.Get("Content-Type")
	if kind != JSON && kind != EventStream { // as nearly all write it
		kind, _, _ = mime.ParseMediaType(kind)
	}
	return kind
}

// Accepts reports whether the client accepts a media type (RFC 9110, 12.5.1). Clients of MCP have
// to name what they accept: no header accepts nothing.
func Accepts(h http.Header, kind string) bool {
	major, _, _ := strings.Cut(kind, "/")
	return AcceptsAny(h, kind, major+"/*", "*/*")
}

// AcceptsAny reports whether the header Accept has one of these media ranges.
func AcceptsAny(h http.Header, ranges ...string) bool {
	for _, line := range h.Values("Accept") {
		for one := range strings.SplitSeq(line, ",") {
			kind, parameters, _ := strings.Cut(one, ";")
			kind = strings.TrimSpace(kind)
			for _, wanted := range ranges {
				if strings.EqualFold(kind, wanted) && !weightless(parameters) {
					return true
				}
			}
		}
	}
	return false
}

// weightless reports whether the parameters of a media range exclude it: q=0.
func weightless(parameters string) bool {
	for one := range strings.SplitSeq(parameters, ";") {
		key, value, _ := strings.Cut(one, "=")
		if strings.EqualFold(strings.TrimSpace(key), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return err == nil && q == 0
		}
	}
	return false
}

// Target returns what the header Mcp-Name of a modern message mirrors, not encoded; ok is false for
// messages that have none.
func Target(m *jsonrpc.Message, method mcpwire.Method) (name string, ok bool) {
	var at jsonrpc.Span
	var err error
	switch method {
	case mcpwire.ToolsCall, mcpwire.PromptsGet, mcpwire.ResourcesRead:
		at, _, err = mcpwire.Target(m, method)
	case mcpwire.TasksGet, mcpwire.TasksCancel, "tasks/update":
		at, err = mcpwire.TaskID(m)
	}
	return string(m.Text(at)), err == nil && at.Present()
}

// What encloses a value in Base64 (2026-07-28, Streamable HTTP, Value Encoding).
const encodedStart, encodedEnd = "=?base64?", "?="

// Encode returns text as the value of a header: as it is if that is possible, and in Base64
// otherwise.
func Encode(text string) string {
	encoded := strings.HasPrefix(text, encodedStart) && strings.HasSuffix(text, encodedEnd)
	if printable(text) && strings.Trim(text, " \t") == text && !encoded {
		return text
	}
	return encodedStart + base64.StdEncoding.EncodeToString([]byte(text)) + encodedEnd
}

// Decode is the inverse of Encode. It reports whether the value has only characters that a header
// may have, and is valid Base64 of UTF-8 if it is encoded.
func Decode(value string) (text string, ok bool) {
	if !printable(value) {
		return "", false
	}
	inner, found := strings.CutPrefix(value, encodedStart)
	if !found || !strings.HasSuffix(inner, encodedEnd) {
		return value, true
	}
	plain, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSuffix(inner, encodedEnd))
	return string(plain), err == nil && utf8.Valid(plain)
}

// printable reports whether text is ASCII without control characters except tabs.
func printable(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < ' ' || c > '~') && c != '\t' {
			return false
		}
	}
	return true
}

// Visible reports whether text is visible ASCII, as IDs of sessions and events have to be, and not
// empty.
func Visible[T string | []byte](text T) bool {
	for i := range len(text) {
		if text[i] < '!' || text[i] > '~' {
			return false
		}
	}
	return len(text) > 0
}

// IsToken reports whether text is a token (RFC 9110, 5.6.2), as names of headers have to be.
func IsToken(text string) bool {
	return Visible(text) && !strings.ContainsAny(text, `"(),/:;<=>?@[\]{}`)
}
