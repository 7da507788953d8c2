package record

import (
	"encoding/json"

	"toolman/router/toolset"
	"toolman/router/view"
)

// Version is the version of the format. A process reads its own version and the one before.
const Version = 1

// A Record is a session. It is written as JSON.
type Record struct {
	Version int `json:"v"`

	// Of the legacy era: the params of initialize, whether the client has sent
	// notifications/initialized, and the params of its last logging/setLevel.
	Initialize json.RawMessage `json:"initialize,omitempty"`
	Ready      bool            `json:"ready,omitempty"`
	Level      json.RawMessage `json:"level,omitempty"`

	Activations   *Activations `json:"activations,omitempty"`
	Subscriptions []string     `json:"subscriptions,omitempty"` // URIs as the client writes them
	Servers       []string     `json:"servers,omitempty"`       // with state that the session has called
	Pages         []string     `json:"pages,omitempty"`         // servers whose pages the client may show (MCP Apps)
}

// Read reads a record. It reports false for one of a version that this process does not know.
func Read(text []byte) (*Record, bool) {
	var r Record
	err := json.Unmarshal(text, &r)
	return &r, err == nil && r.Version == Version
}

// Append appends the record as JSON.
func (r *Record) Append(dst []byte) []byte {
	r.Version = Version
	text, _ := json.Marshal(r) // cannot fail: its raw messages are valid
	return append(dst, text...)
}

// Activations are view.Activations with the names of toolsets.
type Activations struct {
	Tools     map[string]bool `json:"tools,omitempty"`
	Resources map[string]bool `json:"resources,omitempty"`
	Toolsets  *Toolsets       `json:"toolsets,omitempty"`
}

// Toolsets are view.Toolsets with names.
type Toolsets struct {
	Enabled  []string     `json:"enabled,omitempty"`
	Disabled []string     `json:"disabled,omitempty"`
	Equipped string       `json:"equipped,omitempty"`
	Before   *Activations `json:"before,omitempty"`
}

// Of returns activations in the form of a record; nil if nothing is switched.
func Of(a view.Activations) *Activations {
	if len(a.Tools)+len(a.Resources) == 0 && a.Toolsets == nil {
		return nil
	}
	out := &Activations{Tools: a.Tools, Resources: a.Resources}
	t := a.Toolsets
	if t == nil {
		return out
	}
	out.Toolsets = &Toolsets{Disabled: t.Disabled}
	for _, set := range t.Enabled {
		out.Toolsets.Enabled = append(out.Toolsets.Enabled, set.Name)
	}
	if t.Equipped != nil {
		out.Toolsets.Equipped = t.Equipped.Name
	}
	if t.Before != nil {
		if out.Toolsets.Before = Of(*t.Before); out.Toolsets.Before == nil {
			out.Toolsets.Before = &Activations{}
		}
	}
	return out
}

// Activations returns the activations of a record. find finds a toolset by its name, or returns
// nil. A toolset that is not found is left out.
func (a *Activations) Activations(find func(name string) *toolset.Set) (out view.Activations) {
	if a == nil {
		return out
	}
	out.Tools, out.Resources = a.Tools, a.Resources
	t := a.Toolsets
	if t == nil {
		return out
	}
	out.Toolsets = &view.Toolsets{Disabled: t.Disabled}
	for _, name := range t.Enabled {
		if set := find(name); set != nil {
			out.Toolsets.Enabled = append(out.Toolsets.Enabled, set)
		}
	}
	if t.Equipped != "" {
		out.Toolsets.Equipped = find(t.Equipped)
	}
	if t.Before != nil {
		before := t.Before.Activations(find)
		out.Toolsets.Before = &before
	}
	return out
}
