package view

// A Mode is how tools and resources that are switched on reach a client.
type Mode uint8

// The modes.
const (
	ModeAuto   Mode = iota // by client
	ModeMutate             // the lists follow what is active
	ModeCall               // the lists stay as they are at start; toolman_call runs what was switched on
	ModeStatic             // nothing can be switched
)

// String returns the mode as tools.toml spells it.
func (m Mode) String() string { return [...]string{"auto", "mutate", "call", "static"}[m] }

// A Variant is all that a list depends on beside the view.
type Variant struct {
	Modern     bool
	Mode       Mode
	AlwaysLoad bool
	Habits     Habits
	Offers     MetaTools
}

// Listed returns the view that lists are made from.
func (v *View) Listed(m Mode) *View {
	if m == ModeMutate {
		return v
	}
	return v.AtStart()
}

// Habits are what is known of a client beyond what it says of itself.
type Habits struct {
	// Defers: it hides tools behind a search of its own, also those that were just
	// switched on, unless they ask to be loaded always.
	Defers bool
	// ListsOnce: it never lists the tools again.
	ListsOnce bool
	// CutsAt is how many bytes of a description it surely shows; 0: all.
	CutsAt int
}

// HabitsOf returns what was measured of the client with this clientInfo.name, with a
// scripted model and a server of our own.
func HabitsOf(client string) Habits {
	switch client {
	case "claude-code":
		// 2.1.329 defers every MCP tool behind its ToolSearch; with anthropic/alwaysLoad
		// in the _meta of a listed tool that tool is in the model's list at once.
		// 2.1.197 cuts descriptions at 2,048 characters, 2.1.329 at 4,096.
		return Habits{Defers: true, CutsAt: 2000}
	case "codex-mcp-client":
		// 0.169.0 only logs list_changed (openai/codex#10105, #33266, #35583), and refuses
		// calls of tools that were not in its one list.
		return Habits{ListsOnce: true}
	}
	return Habits{}
}

// MetaTools say which groups of tools of its own toolman offers. The zero value is
// toolman_activate alone.
type MetaTools struct {
	NoActivate bool // not toolman_activate
	List       bool // list_tools, which is also among Toolsets
	Toolsets   bool // those that enable and disable toolsets
	Manage     bool // those that build, equip and delete saved toolsets
}

// And returns the tools that are among both.
func (o MetaTools) And(other MetaTools) MetaTools {
	return MetaTools{
		NoActivate: o.NoActivate || other.NoActivate,
		List:       (o.List || o.Toolsets) && (other.List || other.Toolsets),
		Toolsets:   o.Toolsets && other.Toolsets,
		Manage:     o.Manage && other.Manage,
	}
}

// Switches reports whether one of the tools can make another one active.
func (o MetaTools) Switches() bool { return !o.NoActivate || o.Toolsets || o.Manage }
