package view

// A Mode determines how a client can use items that are switched on.
type Mode uint8

// The modes.
const (
	ModeAuto   Mode = iota // chosen per client
	ModeMutate             // lists contain the active items
	ModeCall               // lists do not change; toolman_call calls tools that were switched on
	ModeStatic             // nothing can be switched
)

// String returns the mode as spelled in tools.toml.
func (m Mode) String() string { return [...]string{"auto", "mutate", "call", "static"}[m] }

// A Variant contains everything except the view that determines a list.
type Variant struct {
	Modern     bool
	Mode       Mode
	AlwaysLoad bool
	Habits     Habits
	Offers     MetaTools
}

// Habits are known properties of a client that it does not declare itself.
type Habits struct {
	// Defers reports whether the client hides tools behind a search of its own, including tools
	// that were just switched on, unless they are marked as always loaded.
	Defers bool
	// ListsOnce reports whether the client never lists the tools again.
	ListsOnce bool
	// CutsAt is the number of bytes of a description that the client certainly shows; 0: all.
	CutsAt int
}

// HabitsOf returns the habits of the client with this clientInfo.name. They were measured with a
// scripted model and a test server.
func HabitsOf(client string) Habits {
	switch client {
	case "claude-code":
		// 2.1.329 defers every MCP tool behind its ToolSearch; with anthropic/alwaysLoad in the
		// _meta of a listed tool that tool is in the model's list at once. 2.1.197 cuts
		// descriptions at 2,048 characters, 2.1.329 at 4,096.
		return Habits{Defers: true, CutsAt: 2000}
	case "codex-mcp-client":
		// 0.169.0 only logs list_changed (openai/codex#10105, #33266, #35583), and refuses calls of
		// tools that were not in its one list.
		return Habits{ListsOnce: true}
	}
	return Habits{}
}

// MetaTools says which groups of its own tools toolman offers. The zero value offers only
// toolman_activate.
type MetaTools struct {
	NoActivate bool // toolman_activate is not offered
	List       bool // list_tools, which is also part of Toolsets
	Toolsets   bool // tools that enable and disable toolsets
	Manage     bool // tools that build, equip and delete saved toolsets
	Search     SearchOffer
	Login      bool // toolman_login, for the only client of a process if that can open URLs
}

// A SearchOffer says whether toolman_search is offered.
type SearchOffer uint8

// When toolman_search is offered.
const (
	SearchAuto   SearchOffer = iota // together with a toolman_activate whose catalog had to be cut
	SearchAlways                    // in every list
	SearchNever
)

// And returns the tools that are in both.
func (o MetaTools) And(other MetaTools) MetaTools {
	return MetaTools{
		NoActivate: o.NoActivate || other.NoActivate,
		List:       (o.List || o.Toolsets) && (other.List || other.Toolsets),
		Toolsets:   o.Toolsets && other.Toolsets,
		Manage:     o.Manage && other.Manage,
		Search:     o.Search.and(other.Search),
		Login:      o.Login && other.Login,
	}
}

// and returns the offer that is in both.
func (s SearchOffer) and(other SearchOffer) SearchOffer {
	switch {
	case s == other:
		return s
	case s == SearchNever || other == SearchNever:
		return SearchNever
	}
	return SearchAuto
}

// Searches reports whether toolman_search may be called.
func (o MetaTools) Searches() bool {
	return o.Search == SearchAlways || o.Search == SearchAuto && !o.NoActivate
}

// CanSwitch reports whether one of the tools can activate other tools.
func (o MetaTools) CanSwitch() bool { return !o.NoActivate || o.Toolsets || o.Manage }
