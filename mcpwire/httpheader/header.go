package httpheader

import (
	"encoding/base64"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
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

// MediaType returns the media type of a body without parameters, or "".
func MediaType(h http.Header) string {
	kind := h.Get("Content-Type")
	if kind != JSON && kind != EventStream { // the usual spellings
		kind, _, _ = mime.ParseMediaType(kind)
	}
	return kind
}

// Accepts reports whether the client accepts a media type (RFC 9110, 12.5.1). MCP requires clients
// to name the types that they accept, so a request without the header accepts none.
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

// RetryAfter reads the header Retry-After (RFC 9110, 10.2.3); 0 if there is none.
func RetryAfter(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at)).Round(time.Second)
	}
	return 0
}

// Target returns the value of the header Mcp-Name of a modern message, not encoded. ok is false for
// messages without that header.
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

// The prefix and suffix of a value in Base64 (2026-07-28, Streamable HTTP, Value Encoding).
const encodedStart, encodedEnd = "=?base64?", "?="

// Encode returns text as the value of a header: unchanged if possible, and otherwise in Base64.
func Encode(text string) string {
	encoded := strings.HasPrefix(text, encodedStart) && strings.HasSuffix(text, encodedEnd)
	if printable(text) && strings.Trim(text, " \t") == text && !encoded {
		return text
	}
	return encodedStart + base64.StdEncoding.EncodeToString([]byte(text)) + encodedEnd
}

// Decode is the inverse of Encode. ok is false if the value contains characters that a header may
// not have, or invalid Base64, or Base64 of text that is not UTF-8.
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

// Visible reports whether text is visible ASCII and not empty, as IDs of sessions and events must
// be.
func Visible[T string | []byte](text T) bool {
	for i := range len(text) {
		if text[i] < '!' || text[i] > '~' {
			return false
		}
	}
	return len(text) > 0
}

// IsToken reports whether text is a token (RFC 9110, 5.6.2), as header names must be.
func IsToken(text string) bool {
	return Visible(text) && !strings.ContainsAny(text, `"(),/:;<=>?@[\]{}`)
}
