package budget

import "time"

// A Session is one of a client's sessions.
type Session interface {
	// IdleSince returns since when the session has neither served a request nor waited for a
	// response. busy: it does.
	IdleSince() (since time.Time, busy bool)
	// EndIdle ends the session if it is idle still.
	EndIdle()
}

// TakeSession takes one of Sessions for a session that begins; Hold follows when it has. Where there
// is no room, the client's session that has been idle for longest ends first, and also where
// few Processes are left, because an idle session may have some. No lock that EndIdle needs may be
// held. The error is a *LimitError.
func (a *Account) TakeSession() error {
	if a == nil {
		return nil
	}
	if limit := a.limits[Processes]; limit > 0 && !a.Room(Processes, limit/4+1) {
		a.EndIdlest()
	}
	for {
		err := a.Take(Sessions, 1)
		if err == nil || !a.EndIdlest() {
			return err
		}
	}
}

// Hold says which session has been taken.
func (a *Account) Hold(s Session) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sessions == nil {
		a.sessions = map[Session]struct{}{}
	}
	a.sessions[s] = struct{}{}
}

// GiveSession gives a session back: it has ended.
func (a *Account) GiveSession(s Session) {
	if a == nil {
		return
	}
	a.mu.Lock()
	delete(a.sessions, s)
	a.mu.Unlock()
	a.Give(Sessions, 1)
}

// EndIdlest ends the session that has been idle for longest; false: none is idle.
func (a *Account) EndIdlest() bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	all := make([]Session, 0, len(a.sessions))
	for s := range a.sessions {
		all = append(all, s)
	}
	a.mu.Unlock()
	var idlest Session
	var earliest time.Time
	for _, s := range all { // without the lock: sessions hold theirs when they take something
		if since, busy := s.IdleSince(); !busy && (idlest == nil || since.Before(earliest)) {
			idlest, earliest = s, since
		}
	}
	if idlest == nil {
		return false
	}
	idlest.EndIdle()
	return true
}
