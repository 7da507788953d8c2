package streamhttp

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

const (
	annotation   = "x-mcp-header"
	maxMirrored  = 64     // headers of one tool
	maxAnnotated = 10_000 // tools that have any
	maxSchema    = 32     // how deep properties are looked through
)

// A mirrored is an argument that has to stand in a header, too.
type mirrored struct {
	header string   // with its prefix
	path   []string // of the argument
}

// paramHeaders are the annotations of a server's tools (2026-07-28, Custom Headers from
// Tool Parameters).
type paramHeaders struct {
	mu    sync.Mutex
	tools map[string][]mirrored // guarded by mu
}

// set sets the headers that mirror arguments of a call.
func (t *paramHeaders) set(h http.Header, m *jsonrpc.Message, tool string) {
	t.mu.Lock()
	all := t.tools[tool]
	t.mu.Unlock()
	if len(all) == 0 {
		return
	}
	arguments, err := m.Param("arguments")
	if err != nil {
		return
	}
	for _, a := range all {
		if value, ok := argument(m, arguments, a.path); ok {
			h.Set(a.header, EncodeHeader(value))
		}
	}
}

// argument returns a string, an integer or a boolean among the arguments of a call.
func argument(m *jsonrpc.Message, at jsonrpc.Span, path []string) (value string, ok bool) {
	for _, key := range path {
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

// integer writes a number that is whole and that JavaScript can hold with digits alone.
func integer(raw string) (text string, ok bool) {
	if n, err := strconv.ParseInt(raw, 10, 64); err == nil && n > -1<<53 && n < 1<<53 {
		return strconv.FormatInt(n, 10), true
	}
	f, err := strconv.ParseFloat(raw, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
		return "", false
	}
	return strconv.FormatInt(int64(f), 10), true
}

// learn reads a list of tools that passes by. It returns the edits that take out the tools
// whose annotations are wrong, which a client of this transport must not use, and what is
// wrong with them.
func (t *paramHeaders) learn(m *jsonrpc.Message) (edits []jsonrpc.Edit, wrong []error) {
	list, err := m.Get(m.Result, mcpwire.Tool.Member())
	if err != nil || !list.Present() || m.Frame[list.Lo] != '[' {
		return nil, nil
	}
	kept := []byte{'['}
	for at := range jsonrpc.Elements(m.Frame, list) {
		name, all, err := annotated(m, at)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("tool %s is left out: %w", clean(name, 64), err))
			continue
		}
		t.put(name, all)
		if len(kept) > 1 {
			kept = append(kept, ',')
		}
		kept = append(kept, m.Bytes(at)...)
	}
	if wrong == nil {
		return nil, nil
	}
	return []jsonrpc.Edit{{Span: list, New: append(kept, ']')}}, wrong
}

// put notes what is known of a tool.
func (t *paramHeaders) put(name string, all []mirrored) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(all) == 0 {
		delete(t.tools, name)
		return
	}
	if t.tools == nil {
		t.tools = map[string][]mirrored{}
	}
	if _, known := t.tools[name]; known || len(t.tools) < maxAnnotated {
		t.tools[name] = all
	}
}

// annotated returns a tool's name and the annotations of its schema.
func annotated(m *jsonrpc.Message, tool jsonrpc.Span) (name string, all []mirrored, err error) {
	at, err := m.Get(tool, "name")
	if err != nil || !m.IsString(at) {
		return "", nil, nil // others judge that
	}
	name = string(m.Text(at))
	schema, err := m.Get(tool, "inputSchema")
	if err != nil || !strings.Contains(string(m.Bytes(schema)), annotation) {
		return name, nil, nil
	}
	w := schemaWalk{m: m}
	w.schema(schema, []string{}, 0)
	return name, w.all, w.err
}

// A schemaWalk gathers the annotations of a schema.
type schemaWalk struct {
	m   *jsonrpc.Message
	all []mirrored
	err error
}

// schema walks the schema at an object. Only what is reached through properties alone can
// be annotated: path leads there, and is nil elsewhere.
func (w *schemaWalk) schema(at jsonrpc.Span, path []string, depth int) {
	if depth > maxSchema {
		w.fail(path, "may be anywhere, the schema is too deep")
	}
	for key, value := range jsonrpc.Members(w.m.Frame, at) {
		switch {
		case w.err != nil:
			return
		case key == annotation:
			w.annotation(at, value, path)
		case key == "properties":
			for name, property := range jsonrpc.Members(w.m.Frame, value) {
				inner := path
				if path != nil {
					inner = append(path[:len(path):len(path)], name)
				}
				w.schema(property, inner, depth+1)
			}
		case key != "default" && key != "const" && key != "enum" && key != "examples":
			w.schema(value, nil, depth+1)
			for element := range jsonrpc.Elements(w.m.Frame, value) {
				w.schema(element, nil, depth+1)
			}
		}
	}
}

// annotation looks at the annotation of one property.
func (w *schemaWalk) annotation(property, name jsonrpc.Span, path []string) {
	header := string(w.m.Text(name))
	kind, _ := w.m.Get(property, "type")
	switch t := string(w.m.Text(kind)); {
	case len(path) == 0:
		w.fail(path, "is where no argument can be found for it")
	case !token(header):
		w.fail(path, "is no name for a header")
	case t != "string" && t != "integer" && t != "boolean":
		w.fail(path, "is on something other than a string, an integer or a boolean")
	case w.has(header):
		w.fail(path, "is there twice")
	case len(w.all) == maxMirrored:
		w.fail(path, "is one of too many")
	default:
		w.all = append(w.all, mirrored{HeaderParam + header, path})
	}
}

func (w *schemaWalk) fail(path []string, what string) {
	of := ""
	if len(path) > 0 {
		of = " of the parameter " + clean(strings.Join(path, "."), 64)
	}
	w.err = fmt.Errorf("its %s%s %s", annotation, of, what)
}

// has reports whether a header of this name, in any case, has been seen.
func (w *schemaWalk) has(header string) bool {
	for _, a := range w.all {
		if strings.EqualFold(a.header, HeaderParam+header) {
			return true
		}
	}
	return false
}
