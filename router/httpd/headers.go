package httpd

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// mismatch says what is wrong with the envelope of a modern request, and where its headers
// do not say what it says itself (2026-07-28, Server Validation). err is what is wrong with
// the envelope; only a header of another revision is worse.
func mismatch(h http.Header, m *jsonrpc.Message, envelope *mcpwire.Envelope, method mcpwire.Method, err error) *mcpwire.Refusal {
	version := envelope.Version.Value
	if m.IsString(version) {
		if why := compare(h, headerVersion, string(m.Text(version))); why != nil {
			return why
		}
	}
	if err != nil {
		return refusalOf(err)
	}
	if why := compare(h, headerMethod, string(m.Text(m.Method))); why != nil {
		return why
	}
	switch method {
	case mcpwire.ToolsCall, mcpwire.PromptsGet, mcpwire.ResourcesRead:
		at, _, err := mcpwire.Target(m, method)
		if err != nil || !at.Present() {
			return nil // the router says what is wrong with it
		}
		return compareEncoded(h, headerName, string(m.Text(at)))
	}
	return nil
}

// refusalOf returns an error of package mcpwire as it is answered.
func refusalOf(err error) *mcpwire.Refusal {
	if why, ok := err.(*mcpwire.Refusal); ok {
		return why
	}
	return &mcpwire.Refusal{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
}

// compare says how a header differs from what the body says.
func compare(h http.Header, name, body string) *mcpwire.Refusal {
	value, why := single(h, name)
	if why == nil && value != body {
		why = differs(name, value, body)
	}
	return why
}

// compareEncoded is compare for a header whose value may be encoded.
func compareEncoded(h http.Header, name, body string) *mcpwire.Refusal {
	value, why := single(h, name)
	if why != nil {
		return why
	}
	if text, ok := decoded(value); !ok || text != body {
		return differs(name, value, body)
	}
	return nil
}

// single returns the value of a header that has to be there once.
func single(h http.Header, name string) (string, *mcpwire.Refusal) {
	switch values := h.Values(name); len(values) {
	case 0:
		return "", headerMismatch("the header " + spelled(name) + " is missing")
	case 1:
		return strings.Trim(values[0], " \t"), nil
	}
	return "", headerMismatch("the header " + spelled(name) + " is there more than once")
}

// What stands around a value that is encoded (2026-07-28, Value Encoding).
const encodedStart, encodedEnd = "=?base64?", "?="

// decoded returns what a header's value stands for. It is not ok when it has characters
// that it may not have, or cannot be decoded.
func decoded(value string) (text string, ok bool) {
	for i := range len(value) {
		if c := value[i]; (c < ' ' || c > '~') && c != '\t' {
			return "", false
		}
	}
	inner, found := strings.CutPrefix(value, encodedStart)
	if !found || !strings.HasSuffix(inner, encodedEnd) {
		return value, true
	}
	plain, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSuffix(inner, encodedEnd))
	return string(plain), err == nil && utf8.Valid(plain)
}

func differs(name, header, body string) *mcpwire.Refusal {
	return headerMismatch(fmt.Sprintf("%s header value '%s' does not match body value '%s'", spelled(name), visible(header), visible(body)))
}

// headerMismatch is the error that the specification prescribes. It has no data.
func headerMismatch(what string) *mcpwire.Refusal {
	return &mcpwire.Refusal{Code: mcpwire.CodeHeaderMismatch, Message: "Header mismatch: " + what}
}

// spelled returns a header's name as the specification spells it.
func spelled(name string) string {
	if name == headerVersion {
		return "MCP-Protocol-Version"
	}
	return name
}

// visible returns as much of a text as an error shows, without what could harm a terminal.
func visible(text string) string {
	const limit = 80
	text = strings.Map(func(c rune) rune {
		if c < ' ' || 0x7f <= c && c < 0xa0 || c == utf8.RuneError {
			return '·'
		}
		return c
	}, text)
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return text
}
