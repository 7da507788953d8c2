package httpheader

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"toolman/jsonrpc"
)

// annotation is the keyword of a tool's inputSchema that makes clients repeat an argument in a
// header (2026-07-28, Custom Headers from Tool Parameters).
const annotation = "x-mcp-header"

const (
	maxMirrored = 64 // headers of one tool
	maxDepth    = 32 // of a schema
)

// A Mirrored is an argument that a header repeats.
type Mirrored struct {
	Header string   // with the prefix Param
	Path   []string // from the arguments to it
}

// MirroredIn returns the arguments that clients repeat according to a schema. It fails if an
// annotation is invalid: clients must not use such a tool. Servers can still use the annotations
// that are returned. The error may quote the schema.
func MirroredIn(schema []byte) ([]Mirrored, error) {
	if !bytes.Contains(schema, []byte(annotation)) {
		return nil, nil
	}
	w := schemaWalk{m: jsonrpc.Message{Frame: schema}}
	w.schema(jsonrpc.Span{Hi: len(schema)}, []string{}, 0)
	return w.all, w.err
}

// A schemaWalk collects the annotations of a schema.
type schemaWalk struct {
	m   jsonrpc.Message
	all []Mirrored
	err error
}

// schema walks the schema at an object. Only a schema that is reached through properties alone can
// be annotated. path leads to such a schema, and is nil for others.
func (w *schemaWalk) schema(at jsonrpc.Span, path []string, depth int) {
	if depth > maxDepth {
		w.fail(path, "cannot be checked, because the schema nests too deep")
		return
	}
	for key, value := range jsonrpc.Members(w.m.Frame, at) {
		switch key {
		case annotation:
			w.annotation(at, value, path)
		case "properties":
			for name, property := range jsonrpc.Members(w.m.Frame, value) {
				inner := path
				if path != nil {
					inner = append(path[:len(path):len(path)], name)
				}
				w.schema(property, inner, depth+1)
			}
		case "default", "const", "enum", "examples": // values, not schemas
		default:
			w.schema(value, nil, depth+1)
			for element := range jsonrpc.Elements(w.m.Frame, value) {
				w.schema(element, nil, depth+1)
			}
		}
	}
}

// annotation reads the annotation of one property.
func (w *schemaWalk) annotation(property, name jsonrpc.Span, path []string) {
	header := string(w.m.Text(name))
	kind, _ := w.m.Get(property, "type")
	switch t := string(w.m.Text(kind)); {
	case len(path) == 0:
		w.fail(path, "is not on a property of the arguments")
		return
	case !IsToken(header):
		w.fail(path, "is not a valid header name")
	case t != "string" && t != "integer" && t != "boolean":
		w.fail(path, "is on a type other than string, integer or boolean")
	case slices.ContainsFunc(w.all, func(a Mirrored) bool { return strings.EqualFold(a.Header, Param+header) }):
		w.fail(path, "is used twice")
	case len(w.all) == maxMirrored:
		w.fail(path, fmt.Sprintf("is over the limit of %d", maxMirrored))
		return
	}
	if header != "" {
		w.all = append(w.all, Mirrored{Param + header, path})
	}
}

// fail records the first error.
func (w *schemaWalk) fail(path []string, what string) {
	if w.err != nil {
		return
	}
	of := ""
	if len(path) > 0 {
		of = " of the parameter " + strings.Join(path, ".")
	}
	w.err = fmt.Errorf("its %s%s %s", annotation, of, what)
}

// Value returns the text that a client repeats of the arguments of a call: a string, an integer or
// a boolean. ok is false if the argument is absent or of another type.
func (a *Mirrored) Value(m *jsonrpc.Message, arguments jsonrpc.Span) (value string, ok bool) {
	at := arguments
	for _, key := range a.Path {
		var err error
		if at, err = m.Get(at, key); err != nil || !at.Present() {
			return "", false
		}
	}
	switch raw := m.Bytes(at); raw[0] {
	case '"':
		return string(m.Text(at)), true
	case 't', 'f':
		return string(raw), true
	default:
		return integer(string(raw))
	}
}

// integer returns a number in digits alone, if it is an integer that JavaScript represents exactly.
func integer(raw string) (text string, ok bool) {
	f, err := strconv.ParseFloat(raw, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
		return "", false
	}
	return strconv.FormatInt(int64(f), 10), true
}
