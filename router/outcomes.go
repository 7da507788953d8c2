package router

import (
	"bytes"
	"encoding/json"

	"toolman/mcpwire/sanitize"
)

// A simpleOutcome is how a tool about toolsets went, in words.
type simpleOutcome struct {
	Success  bool     `json:"success"`
	Message  string   `json:"message"`
	Warnings []string `json:"warnings,omitempty"` // about tools of a toolset that are left out, or should be
}

// outcomeJSON writes an outcome as an object.
func outcomeJSON(outcome any) []byte {
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
