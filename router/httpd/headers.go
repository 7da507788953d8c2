package httpd

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/httpheader"
	"toolman/mcpwire/sanitize"
)

// mismatch says what is wrong with the envelope of a modern request, and where its headers
// do not say what it says itself (2026-07-28, Server Validation). err is what is wrong with
// the envelope; only a header of another revision is worse.
func mismatch(h http.Header, m *jsonrpc.Message, envelope *mcpwire.Envelope, method mcpwire.Method, err error) *mcpwire.Refusal {
	version := envelope.Version.Value
	if m.IsString(version) {
		if why := compare(h, httpheader.Version, string(m.Text(version))); why != nil {
			return why
		}
	}
	if err != nil {
		return refusalOf(err)
	}
	if why := compare(h, httpheader.Method, string(m.Text(m.Method))); why != nil {
		return why
	}
	switch method {
	case mcpwire.ToolsCall, mcpwire.PromptsGet, mcpwire.ResourcesRead:
		at, _, err := mcpwire.Target(m, method)
		if err != nil || !at.Present() {
			return nil // the router says what is wrong with it
		}
		return compareEncoded(h, httpheader.Name, string(m.Text(at)))
	}
	return nil
}

// paramMismatch says which header does not repeat the argument that it should by a tool's
// inputSchema.
func paramMismatch(h http.Header, m *jsonrpc.Message, schema []byte) *mcpwire.Refusal {
	arguments, err := m.Param("arguments")
	if err != nil {
		return nil // the server is asked, and can say what is wrong
	}
	mirrored, _ := httpheader.MirroredIn(schema)
	for _, one := range mirrored {
		if why := compareParam(h, m, arguments, &one); why != nil {
			return why
		}
	}
	return nil
}

// compareParam says how a header differs from the argument that it repeats.
func compareParam(h http.Header, m *jsonrpc.Message, at jsonrpc.Span, x *httpheader.Mirrored) *mcpwire.Refusal {
	for _, name := range x.Path {
		var err error
		if at, err = m.Get(at, name); err != nil {
			return headerMismatch("the argument for the header " + x.Header + " is not to be read in one way only")
		}
	}
	if !at.Present() || string(m.Bytes(at)) == "null" {
		if len(h.Values(x.Header)) > 0 {
			return headerMismatch("the header " + x.Header + " stands for an argument that is not there")
		}
		return nil
	}
	if m.IsString(at) {
		return compareEncoded(h, x.Header, string(m.Text(at)))
	}
	value, why := single(h, x.Header)
	if why != nil {
		return why
	}
	text, ok := httpheader.Decode(value)
	if body := string(m.Bytes(at)); !ok || text != body && !sameNumber(text, body) {
		return differs(x.Header, value, body)
	}
	return nil
}

// sameNumber compares integers by value: 42.0 is 42. Those that are not exact as IEEE 754 numbers
// are the same only if they are spelled alike.
func sameNumber(a, b string) bool {
	x, err := strconv.ParseFloat(a, 64)
	if err != nil {
		return false
	}
	y, err := strconv.ParseFloat(b, 64)
	return err == nil && x == y && math.Abs(x) < 1<<53
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
	if text, ok := httpheader.Decode(value); !ok || text != body {
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

// maxShown is how many characters of a value an error repeats.
const maxShown = 80

func differs(name, header, body string) *mcpwire.Refusal {
	return headerMismatch(fmt.Sprintf("%s header value '%s' does not match body value '%s'", spelled(name), sanitize.Cut(header, maxShown), sanitize.Cut(body, maxShown)))
}

// headerMismatch is the error that the specification prescribes. It has no data.
func headerMismatch(what string) *mcpwire.Refusal {
	return &mcpwire.Refusal{Code: mcpwire.CodeHeaderMismatch, Message: "Header mismatch: " + what}
}

// spelled returns a header's name as the specification spells it.
func spelled(name string) string {
	if name == httpheader.Version {
		return "MCP-Protocol-Version"
	}
	return name
}
