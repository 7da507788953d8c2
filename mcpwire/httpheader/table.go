package httpheader

import (
	"fmt"
	"net/http"
	"sync"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
)

const maxAnnotated = 10_000 // tools of a Table

// A Table holds the arguments that headers repeat, by the name of the tool (2026-07-28, Custom
// Headers from Tool Parameters).
type Table struct {
	mu    sync.Mutex
	tools map[string][]Mirrored // guarded by mu
}

// setParams sets the headers that repeat arguments of a call.
func (t *Table) setParams(h http.Header, m *jsonrpc.Message, tool string) {
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
		if value, ok := a.Value(m, arguments); ok {
			h.Set(a.Header, Encode(value))
		}
	}
}

// Learn reads a list of tools. It returns the edits that remove the tools with invalid annotations,
// which a client of this transport must not use, and an error for each of these.
func (t *Table) Learn(m *jsonrpc.Message) (edits []jsonrpc.Edit, wrong []error) {
	list, err := m.Get(m.Result, mcpwire.Tool.Member())
	if err != nil || !list.Present() || m.Frame[list.Lo] != '[' {
		return nil, nil
	}
	kept := []byte{'['}
	for at := range jsonrpc.Elements(m.Frame, list) {
		if err := t.learnTool(m, at); err != nil {
			wrong = append(wrong, err)
			continue
		}
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

// learnTool reads one tool of a list. It fails if clients must not use the tool.
func (t *Table) learnTool(m *jsonrpc.Message, tool jsonrpc.Span) error {
	at, err := m.Get(tool, "name")
	if err != nil || !m.IsString(at) {
		return nil // the handler reports this
	}
	name := string(m.Text(at))
	schema, _ := m.Get(tool, "inputSchema")
	all, err := MirroredIn(m.Bytes(schema))
	if err != nil {
		return fmt.Errorf("tool %s is left out: %s", sanitize.Cut(name, 64), sanitize.Cut(err.Error(), 300))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(all) == 0 {
		delete(t.tools, name)
		return nil
	}
	if t.tools == nil {
		t.tools = map[string][]Mirrored{}
	}
	if _, known := t.tools[name]; known || len(t.tools) < maxAnnotated {
		t.tools[name] = all
	}
	return nil
}

// Set sets the headers that repeat parts of a modern message of this revision.
func (t *Table) Set(h http.Header, m *jsonrpc.Message, method mcpwire.Method, revision string) {
	h.Set(Version, revision)
	h.Set(Method, Encode(string(method)))
	name, ok := Target(m, method)
	if !ok {
		return
	}
	h.Set(Name, Encode(name))
	if method == mcpwire.ToolsCall {
		t.setParams(h, m, name)
	}
}
