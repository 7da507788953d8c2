package recording

import (
	"encoding/json"

	"toolman/mcpwire"
)

// Members of params in the rounds of a call that asks for input (2026-07-28).
const (
	InputResponses = "inputResponses"
	RequestState   = "requestState"
)

// Key returns what makes two calls the same: who calls, method, name and canonical arguments. Calls
// that ask for the same in another way have the same key, whatever their ID, _meta and opaque state
// are.
func (c *Call) Key() string {
	if c.key == "" {
		c.key = c.Base() + "\x00" + Arguments(c.Request.Params)
	}
	return c.key
}

// Base returns the part of Key without the arguments.
func (c *Call) Base() string {
	return string(c.Request.Dir) + "\x00" + c.Request.Method + "\x00" + c.Request.Name
}

// Arguments returns params in canonical form (RFC 8785), without members that differ from session
// to session: _meta and requestState.
func Arguments(params json.RawMessage, without ...string) string {
	members := map[string]json.RawMessage{}
	if params != nil && json.Unmarshal(params, &members) != nil {
		return string(params)
	}
	delete(members, "_meta")
	delete(members, RequestState)
	for _, name := range without {
		delete(members, name)
	}
	return Canonical(members)
}

// Canonical returns a value in canonical form (RFC 8785).
func Canonical(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	canonical, err := mcpwire.Canonical(text)
	if err != nil { // numbers out of range
		return string(text)
	}
	return string(canonical)
}
