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

// A variant is all that a list depends on beside the view.
type variant struct {
	modern     bool
	mode       Mode
	alwaysLoad bool
	habits     habits
	offers     MetaTools
}

// shown returns the view that lists are made from.
func (v *View) shown(m Mode) *View {
	if m == ModeMutate {
		return v
	}
	return v.atStart()
}
