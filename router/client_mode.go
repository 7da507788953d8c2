package router

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

func (s *Session) variantLocked(modern bool) variant {
	return variant{modern: modern, mode: s.modeOf(modern), alwaysLoad: s.alwaysLoad(), habits: habitsOf(s.name()), offers: s.offers}
}

// alwaysLoad reports whether tools are listed as ones to be loaded always.
func (s *Session) alwaysLoad() bool {
	if fixed := s.r.AlwaysLoad; fixed != nil {
		return *fixed
	}
	return habitsOf(s.name()).defers
}
