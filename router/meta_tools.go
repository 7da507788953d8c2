package router

// MetaTools say which groups of tools of its own toolman offers. The zero value is
// toolman_activate alone.
type MetaTools struct {
	NoActivate bool // not toolman_activate
	List       bool // list_tools, which is also among Toolsets
	Toolsets   bool // those that enable and disable toolsets
	Manage     bool // those that build, equip and delete saved toolsets
}

// and returns the tools that are among both.
func (o MetaTools) and(other MetaTools) MetaTools {
	return MetaTools{
		NoActivate: o.NoActivate || other.NoActivate,
		List:       (o.List || o.Toolsets) && (other.List || other.Toolsets),
		Toolsets:   o.Toolsets && other.Toolsets,
		Manage:     o.Manage && other.Manage,
	}
}

// switches reports whether one of the tools can make another one active.
func (o MetaTools) switches() bool { return !o.NoActivate || o.Toolsets || o.Manage }
