package httpd

import (
	"bytes"
	"math"
	"net/http"
	"strconv"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// annotation is the keyword of a tool's schema that has clients repeat an argument in a
// header (2026-07-28, Custom Headers from Tool Parameters).
const annotation = "x-mcp-header"

// Bounds of what is looked at in one schema.
const (
	maxAnnotations = 64
	maxDepth       = 16
)

// A mirror is an argument that is repeated in a header.
type mirror struct {
	path   []string // from the arguments to it
	header string
}

// paramMismatch says which header does not repeat the argument that it should. schema
// returns the inputSchema of a tool, nil when the client has no such tool.
func paramMismatch(h http.Header, m *jsonrpc.Message, schema func(tool []byte) []byte) *mcpwire.Refusal {
	at, _, err := mcpwire.Target(m, mcpwire.ToolsCall)
	if err != nil || !at.Present() {
		return nil
	}
	arguments, err := m.Param("arguments")
	if err != nil {
		return nil // the server is asked, and can say what is wrong
	}
	for _, one := range mirrors(schema(m.Text(at))) {
		if why := one.mismatch(h, m, arguments); why != nil {
			return why
		}
	}
	return nil
}

// mirrors finds the annotations of a schema. Those in places where they may not be count
// for nothing.
func mirrors(schema []byte) []mirror {
	if !bytes.Contains(schema, []byte(annotation)) {
		return nil
	}
	var all []mirror
	findMirrors(schema, jsonrpc.Span{Hi: len(schema)}, nil, &all)
	return all
}

func findMirrors(schema []byte, obj jsonrpc.Span, path []string, all *[]mirror) {
	m := jsonrpc.Message{Frame: schema}
	if len(path) > maxDepth || len(*all) >= maxAnnotations {
		return
	}
	if at, err := m.Get(obj, annotation); err == nil && len(m.Text(at)) > 0 && len(path) > 0 {
		*all = append(*all, mirror{path, prefixParam + string(m.Text(at))})
	}
	properties, err := m.Get(obj, "properties")
	if err != nil || !m.IsObject(properties) {
		return
	}
	for name, at := range jsonrpc.Members(schema, properties) {
		findMirrors(schema, at, append(path[:len(path):len(path)], name), all)
	}
}

// mismatch says how the header differs from the argument.
func (x *mirror) mismatch(h http.Header, m *jsonrpc.Message, arguments jsonrpc.Span) *mcpwire.Refusal {
	at := arguments
	for _, name := range x.path {
		var err error
		if at, err = m.Get(at, name); err != nil {
			return headerMismatch("the argument for the header " + x.header + " is not to be read in one way only")
		}
	}
	if !at.Present() || string(m.Bytes(at)) == "null" {
		if len(h.Values(x.header)) > 0 {
			return headerMismatch("the header " + x.header + " stands for an argument that is not there")
		}
		return nil
	}
	if m.IsString(at) {
		return compareEncoded(h, x.header, string(m.Text(at)))
	}
	value, why := single(h, x.header)
	if why != nil {
		return why
	}
	text, ok := decoded(value)
	if body := string(m.Bytes(at)); !ok || text != body && !sameNumber(text, body) {
		return differs(x.header, value, body)
	}
	return nil
}

// sameNumber compares integers by value: 42.0 is 42. Those that are not exact as IEEE 754
// numbers are the same only when they are spelled so.
func sameNumber(a, b string) bool {
	x, err := strconv.ParseFloat(a, 64)
	if err != nil {
		return false
	}
	y, err := strconv.ParseFloat(b, 64)
	return err == nil && x == y && math.Abs(x) < 1<<53
}
