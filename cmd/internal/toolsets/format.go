package toolsets

import (
	"time"

	"toolman/cmd/internal/plainjson"
	"toolman/router/toolset"
)

// A savedSet is a toolset as the file has it.
type savedSet struct {
	Name        string     `json:"name"`
	Owner       string     `json:"owner,omitempty"`
	Description string     `json:"description,omitempty"`
	Version     string     `json:"version,omitempty"`
	CreatedAt   *time.Time `json:"createdAt,omitempty"`
	Tools       []savedRef `json:"tools"`
}

type savedRef struct {
	NamespacedName string `json:"namespacedName,omitempty"`
	RefID          string `json:"refId,omitempty"`
}

// Format writes toolsets in the format of toolsets.json, in the order of their keys.
func Format(sets map[string]toolset.Set) []byte {
	file := map[string]savedSet{}
	for key, s := range sets {
		one := savedSet{Name: s.Name, Owner: s.Owner, Description: s.Description, Version: s.Version, Tools: []savedRef{}}
		if !s.CreatedAt.IsZero() {
			one.CreatedAt = &s.CreatedAt
		}
		for _, ref := range s.Tools {
			one.Tools = append(one.Tools, savedRef(ref))
		}
		file[key] = one
	}
	return plainjson.Indented(file)
}
