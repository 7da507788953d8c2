package hook

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"toolman/mcpwire/sanitize"
	"toolman/router/toolset"
)

// Equipped is the event that a toolset was equipped.
type Equipped struct {
	Event    string    `json:"event"` // "equip"
	Time     time.Time `json:"time"`
	Toolset  string    `json:"toolset"`
	Owner    string    `json:"owner,omitempty"`  // of a saved toolset: the client whose it is
	Agent    string    `json:"agent,omitempty"`  // of the client that has equipped it
	Client   string    `json:"client,omitempty"` // its own name for itself; "" at the start of toolman
	Tools    []string  `json:"tools"`            // that are active now
	Warnings []string  `json:"warnings,omitempty"`
}

// EquippedBy returns the event for a toolset with the tools it stands for.
func EquippedBy(x *toolset.Expansion, agent, client string) Equipped {
	e := Equipped{Toolset: x.Set.Name, Owner: x.Set.Owner, Agent: agent, Client: sanitize.Line(client), Tools: []string{}}
	e.Tools = append(e.Tools, slices.Sorted(maps.Keys(x.Tools))...)
	for _, text := range x.Warnings() {
		e.Warnings = append(e.Warnings, sanitize.Line(text))
	}
	return e
}

// Drifted is the event that tools of a saved toolset are not what was saved.
type Drifted struct {
	Event   string    `json:"event"` // "drift"
	Time    time.Time `json:"time"`
	Toolset string    `json:"toolset"`
	Owner   string    `json:"owner,omitempty"`
	Drifted []Tool    `json:"drifted"`
}

// A Tool is one that has drifted.
type Tool struct {
	Name    string `json:"name"`    // the reference
	Outcome string `json:"outcome"` // as in toolman toolset show --json
	Problem string `json:"problem"`
}

// drift has what was reported, for each key of a toolset.
type drift struct{ reported map[string]string }

// find returns an event for each toolset that has drifted in another way than was reported.
func (d *drift) find(l *look) (events []Drifted) {
	saved, err := l.shelf.Load()
	if err != nil {
		return nil // whoever uses a toolset is told
	}
	reported := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(saved)) {
		set := saved[key]
		tools := driftOf(l.catalog.Expand(&set), l.complete)
		if len(tools) == 0 {
			continue
		}
		reported[key] = fmt.Sprintf("%q", tools)
		if reported[key] != d.reported[key] {
			events = append(events, Drifted{Event: "drift", Time: time.Now().UTC().Truncate(time.Millisecond), Toolset: set.Name, Owner: set.Owner, Drifted: tools})
		}
	}
	d.reported = reported
	return events
}

// driftOf returns the tools of a toolset that are not what was saved.
func driftOf(x *toolset.Expansion, complete bool) (tools []Tool) {
	for _, res := range x.Resolutions {
		switch res.Outcome {
		case toolset.Changed, toolset.Split:
		case toolset.Renamed, toolset.Ambiguous, toolset.Alike:
			if !complete {
				continue
			}
		default:
			continue
		}
		tools = append(tools, Tool{sanitize.Line(res.Of), res.Outcome.String(), sanitize.Line(res.Problem)})
	}
	return tools
}
