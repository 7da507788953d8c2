package router

import "toolman/router/view"

// modeOf is the mode for the client's requests of an era. Lists change for clients that
// can learn of it: those of the modern era if they listen.
func (s *Session) modeOf(modern bool) view.Mode {
	switch {
	case s.Who.Static != "":
		return view.ModeStatic
	case s.env.Mode != view.ModeAuto:
		return s.env.Mode
	case modern && !s.subscriptions.HearsOfTools():
		return view.ModeCall
	case !modern && view.HabitsOf(s.Name()).ListsOnce:
		return view.ModeCall
	}
	return view.ModeMutate
}

func (s *Session) variantLocked(modern bool) view.Variant {
	return view.Variant{Modern: modern, Mode: s.modeOf(modern), AlwaysLoad: s.alwaysLoad(), Habits: view.HabitsOf(s.Name()), Offers: s.builtin.offers}
}

// alwaysLoad reports whether tools are listed as ones to be loaded always.
func (s *Session) alwaysLoad() bool {
	if fixed := s.env.AlwaysLoad; fixed != nil {
		return *fixed
	}
	return view.HabitsOf(s.Name()).Defers
}
