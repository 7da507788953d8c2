package metatool

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"toolman/jsonrpc"
	"toolman/mcpwire/sanitize"
	"toolman/router/catalog"
	"toolman/router/toolset"
	"toolman/router/view"
)

// CallTool is the name of the tool that calls another one. It is for clients whose list of tools
// does not change.
const CallTool = "toolman_call"

// A Context is the input of a call of one of toolman's own tools.
type Context struct {
	Message     *jsonrpc.Message // the call
	View        *view.View
	Modern      bool // the call is of the modern era
	Guidance    *Guidance
	Library     *Library
	Shelf       toolset.Shelf   // nil: toolsets cannot be saved
	Fixed       []toolset.Set   // the toolsets of tools.toml
	Owner       string          // of the toolsets that the client saves
	Unavailable func() []string // names of servers that are not ready and that the client may see
}

// An Outcome is the result of a call.
type Outcome struct {
	Err    error // refuses the call because of its arguments
	Result any   // otherwise the answer, an object
	Failed bool  // the answer is an error

	// View, if not nil, becomes the client's view. Reply then returns the answer and receives the
	// text that says what was switched. If Reply is nil, the answer is that text and the warnings.
	View     *view.View
	Reply    func(text string) any
	Warnings []string

	// Save, if not nil, changes the saved toolsets. The outcome is then that of Then, or the error
	// of Save.
	Save func(map[string]toolset.Set) error
	Then func(*Context) Outcome
}

// resultOutcome returns the outcome of a call that changes nothing.
func resultOutcome(result any) Outcome { return Outcome{Result: result} }

// Failure returns the outcome of a call that failed.
func Failure(why string) Outcome {
	return Outcome{Result: simpleOutcome{Message: why}, Failed: true}
}

// A Tool is one of toolman's tools other than toolman_activate and toolman_call.
type Tool struct {
	Name         string
	Definition   string // its members in a list after the name
	InStaticMode bool   // also offered in ModeStatic, because it changes nothing
	run          func(c *Context) Outcome
}

// Call calls the tool.
func (t *Tool) Call(c *Context) Outcome {
	if c.Guidance.Mode == view.ModeStatic && !t.InStaticMode {
		return Failure(c.Guidance.Static())
	}
	return t.run(c)
}

// Tools returns the tools of the selected groups by name. toolman_search is among them if it may be
// offered.
func Tools(o view.MetaTools) map[string]*Tool {
	var all []*Tool
	switch {
	case o.Toolsets:
		all = append(all, toolsetTools()...)
	case o.List:
		all = append(all, toolsetTools()[0])
	}
	if o.Manage {
		all = append(all, manageTools()...)
	}
	if o.Searches() {
		all = append(all, searchTool())
	}
	if o.Login {
		all = append(all, loginTool())
	}
	byName := make(map[string]*Tool, len(all))
	for _, t := range all {
		byName[t.Name] = t
	}
	return byName
}

// Names returns the names that are reserved for toolman's own tools.
func Names(o view.MetaTools, tools map[string]*Tool) []string {
	names := slices.Sorted(maps.Keys(tools))
	if !o.NoActivate {
		names = append(names, catalog.ActivateTool)
	}
	return append(names, CallTool)
}

// A simpleOutcome is the textual result of a toolset tool.
type simpleOutcome struct {
	Success  bool     `json:"success"`
	Message  string   `json:"message"`
	Warnings []string `json:"warnings,omitempty"` // about tools of a toolset that are or should be left out
}

// JSON encodes an outcome as an object.
func JSON(outcome any) []byte {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(outcome); err != nil { // impossible for strings, numbers and lists of them
		return []byte(`{"success":false,"message":"the outcome cannot be encoded"}`)
	}
	return bytes.TrimSpace(text.Bytes())
}

// sanitized returns texts that are safe to show.
func sanitized(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = sanitize.Line(text)
	}
	return out
}
