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

// CallTool is the name of the tool that runs another one, for clients whose list of
// tools does not change.
const CallTool = "toolman_call"

// A Context is what a call of one of toolman's own tools may look at.
type Context struct {
	Message     *jsonrpc.Message // the call
	View        *view.View
	Modern      bool // the call is of the modern era
	Guidance    *Guidance
	Library     *Library
	Shelf       toolset.Shelf   // nil: toolsets cannot be saved
	Fixed       []toolset.Set   // the toolsets of tools.toml
	Owner       string          // of what the client saves
	Unavailable func() []string // names of the servers that are not ready, of those that the client may know of
}

// An Outcome is what becomes of a call.
type Outcome struct {
	Err    error // the call is refused, because of its arguments
	Result any   // else the answer, an object
	Failed bool  // the answer is an error

	// View, if it is not nil, is what the client sees from now on. Then the answer is that of
	// Reply, which is given what was switched; without it, that text and the warnings.
	View     *view.View
	Reply    func(text string) any
	Warnings []string

	// Save, if it is not nil, changes the saved toolsets. Then the outcome is that of Then, or the
	// error.
	Save func(map[string]toolset.Set) error
	Then func(*Context) Outcome
}

func said(result any) Outcome { return Outcome{Result: result} }

// Failure is the outcome of a call that cannot be done.
func Failure(why string) Outcome {
	return Outcome{Result: simpleOutcome{Message: why}, Failed: true}
}

// A Tool is a tool of toolman's own that is about toolsets.
type Tool struct {
	Name       string
	Definition string // as a list has it, after its name
	Free       bool   // it changes nothing that a client sees: it is offered in every mode
	run        func(c *Context) Outcome
}

// Call calls the tool.
func (t *Tool) Call(c *Context) Outcome {
	if c.Guidance.Mode == view.ModeStatic && !t.Free {
		return Failure(c.Guidance.Static())
	}
	return t.run(c)
}

// Tools returns the tools of the groups asked for by their names, nil for none.
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
	var byName map[string]*Tool
	for _, t := range all {
		if byName == nil {
			byName = map[string]*Tool{}
		}
		byName[t.Name] = t
	}
	return byName
}

// Names are the names that no server's tool can have.
func Names(o view.MetaTools, tools map[string]*Tool) []string {
	names := slices.Sorted(maps.Keys(tools))
	if !o.NoActivate {
		names = append(names, catalog.ActivateTool)
	}
	return append(names, CallTool)
}

// A simpleOutcome is how a tool about toolsets went, in words.
type simpleOutcome struct {
	Success  bool     `json:"success"`
	Message  string   `json:"message"`
	Warnings []string `json:"warnings,omitempty"` // about tools of a toolset that are left out, or should be
}

// JSON writes an outcome as an object.
func JSON(outcome any) []byte {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(outcome); err != nil { // which strings, numbers and lists of them do not give
		return []byte(`{"success":false,"message":"the outcome cannot be written"}`)
	}
	return bytes.TrimSpace(text.Bytes())
}

// cleaned are texts that are safe to show.
func cleaned(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = sanitize.Line(text)
	}
	return out
}
