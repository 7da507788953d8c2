package router

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

// modeOf is the mode for the client's requests of an era. Lists change for clients that
// can learn of it: those of the modern era if they listen.
func (s *Session) modeOf(modern bool) Mode {
	switch {
	case s.who.Static != "":
		return ModeStatic
	case s.r.Mode != ModeAuto:
		return s.r.Mode
	case modern && !s.listensForToolsLocked():
		return ModeCall
	case !modern && habitsOf(s.name()).listsOnce:
		return ModeCall
	}
	return ModeMutate
}

// A variant is all that a list depends on beside the view.
type variant struct {
	modern     bool
	mode       Mode
	alwaysLoad bool
	habits     habits
	offers     MetaTools
}

func (s *Session) variantLocked(modern bool) variant {
	return variant{modern: modern, mode: s.modeOf(modern), alwaysLoad: s.alwaysLoad(), habits: habitsOf(s.name()), offers: s.offers}
}

// shown returns the view that lists are made from.
func (v *View) shown(m Mode) *View {
	if m == ModeMutate {
		return v
	}
	return v.atStart()
}
