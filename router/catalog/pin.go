package catalog

import (
	"fmt"
	"slices"

	"toolman/mcpwire"
)

// Pins say what each item was when somebody last looked at it: its reference
// (mcpwire.RefID), by its name as clients see it. What is not as its pin says is held
// back: not offered, and not to be had by any road.
type Pins [mcpwire.Kinds]map[string]string

// A Hold is why an item is held back.
type Hold uint8

// The reasons.
const (
	NotHeld Hold = iota
	NotPinned
	NotAsPinned
	NotPinnable // it has no definition, see mcpwire.Item.Definition
	OtherEra    // not as pinned, and its server is not spoken to in the era that it was pinned in
)

// String returns the reason in words that follow "held back: ".
func (h Hold) String() string {
	return [...]string{"", "it is not in the lock file", "it is not what the lock file says it was", "its definition can be understood in more than one way",
		"it is not what the lock file says it was in the other era (see era in tools.toml)"}[h]
}

// holds judges an item by its pin. No pins hold nothing.
func (r *Rules) holds(e *Entry) Hold {
	p := r.Pins
	if p == nil || r.Unpinned.Match(e) {
		return NotHeld
	}
	was, pinned := p[e.Item.Kind][e.Name]
	switch is := e.RefID(); {
	case is == "":
		return NotPinnable
	case !pinned:
		return NotPinned
	case was != is && r.Eras[e.Source.Name] == otherEra(e.Source.Modern):
		return OtherEra
	case was != is:
		return NotAsPinned
	}
	return NotHeld
}

func otherEra(modern bool) mcpwire.Era {
	if modern {
		return mcpwire.Legacy
	}
	return mcpwire.Modern
}

// Held returns the items that are held back, kind by kind in catalog order. Their
// names are taken all the same.
func (c *Catalog) Held() []*Entry {
	return slices.DeleteFunc(c.Denied.All(), func(e *Entry) bool { return e.Hold == NotHeld })
}

// heldText says that an item is held back, and who can do what about it. The name
// stands in no command that somebody may copy: a URI can be a command itself.
func heldText(what string, why Hold) string {
	return fmt.Sprintf("%s is held back: %s. Go on without it; a person can look at it with toolman lock --diff, "+
		"take it with toolman lock --accept NAME, and restart toolman", what, why)
}
