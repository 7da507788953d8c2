package httpd

import (
	"errors"
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

// mismatch says what is wrong with the envelope of a modern request, and which header differs from
// the request (2026-07-28, Server Validation). err is what is wrong with the envelope; only a
// header of another revision takes precedence.
func mismatch(h http.Header, m *jsonrpc.Message, envelope *mcpwire.Envelope, method mcpwire.Method, err error) *mcpwire.Refusal {
	if version := envelope.Version.Value; m.IsString(version) {
		if why := compare(h, httpheader.Version, string(m.Text(version)), isSame); why != nil {
			return why
		}
	}
	if why, ok := errors.AsType[*mcpwire.Refusal](err); ok {
		return why
	}
	if why := compare(h, httpheader.Method, string(m.Text(m.Method)), isSame); why != nil {
		return why
	}
	if name, ok := httpheader.Target(m, method); ok && mcpwire.TakesInput(method) {
		return compare(h, httpheader.Name, name, isSameText)
	}
	return nil // if the name is missing, the router says so
}

// paramMismatch says which header does not repeat the argument that it has to repeat according to a
// tool's inputSchema.
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
			return headerMismatch("the argument for the header " + x.Header + " is ambiguous")
		}
	}
	switch {
	case at.Present() && m.IsString(at):
		return compare(h, x.Header, string(m.Text(at)), isSameText)
	case at.Present() && string(m.Bytes(at)) != "null":
		return compare(h, x.Header, string(m.Bytes(at)), isSameValue)
	case len(h.Values(x.Header)) > 0:
		return headerMismatch("the header " + x.Header + " repeats an argument that is missing")
	}
	return nil
}

// maxShown is the number of characters of a value that an error repeats.
const maxShown = 80

// compare says how a header that must be there once differs from what the body says.
func compare(h http.Header, name, body string, same func(header, body string) bool) *mcpwire.Refusal {
	spelled := name
	if name == httpheader.Version {
		spelled = "MCP-Protocol-Version" // as the specification spells it
	}
	values := h.Values(name)
	switch {
	case len(values) == 0:
		return headerMismatch("the header " + spelled + " is missing")
	case len(values) > 1:
		return headerMismatch("the header " + spelled + " occurs more than once")
	}
	value := strings.Trim(values[0], " \t")
	if same(value, body) {
		return nil
	}
	return headerMismatch(fmt.Sprintf("%s header value '%s' does not match body value '%s'", spelled, sanitize.Cut(value, maxShown), sanitize.Cut(body, maxShown)))
}

func isSame(header, body string) bool { return header == body }

// isSameText is isSame for a header that may be encoded.
func isSameText(header, body string) bool {
	text, ok := httpheader.Decode(header)
	return ok && text == body
}

// isSameValue is isSameText that compares integers by value: 42.0 is 42. Those that are not exact
// as IEEE 754 numbers are the same only if they are spelled alike.
func isSameValue(header, body string) bool {
	text, ok := httpheader.Decode(header)
	x, errX := strconv.ParseFloat(text, 64)
	y, errY := strconv.ParseFloat(body, 64)
	return ok && (text == body || errX == nil && errY == nil && x == y && math.Abs(x) < 1<<53)
}

// headerMismatch is the error that the specification prescribes. It has no data.
func headerMismatch(what string) *mcpwire.Refusal {
	return &mcpwire.Refusal{Code: mcpwire.CodeHeaderMismatch, Message: "Header mismatch: " + what}
}
