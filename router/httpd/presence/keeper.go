package presence

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
)

// Reasons why a session cannot be used here, in a cluster.
var (
	ErrMoved       = errors.New("another replica has taken over the session; send the request again")
	ErrUnavailable = errors.New("the replicas cannot agree now who has the session, because the cluster's engine does not answer; nothing was done, try again later")
)

// A Route sends a request to the replica that has the caller's session. It reports false if that is
// this one. The body of the request is unread then, or replaced by an equal one.
type Route func(w http.ResponseWriter, r *http.Request, who *Caller) (served bool)

// A Keeper keeps records of sessions outside of the process, from which another process can make
// them again. It is safe for use by many goroutines. A key is that of a session in the form of a
// text, which is the same in all processes.
type Keeper interface {
	// Load returns the record of a session that this process does not have; nil if there is none.
	// The error is ErrUnavailable if that cannot be known now.
	Load(ctx context.Context, key string, who *Caller) (record []byte, err error)
	// Began says that this process has the session from now on.
	Began(key string, who *Caller, s Kept)
	// Save stores the record of a session. It waits until the record is stored, but not for long.
	// The error is ErrMoved if another process has the session; the session then has to end. After
	// any other error the Keeper calls Kept.Save later.
	Save(key string, who *Caller, record []byte) error
	// Ended says that a session has ended, and why. Its record is of no use any more, unless the
	// reason is ErrMoved.
	Ended(key string, who *Caller, s Kept, why error)
}

// A Kept is a session whose record a Keeper keeps.
type Kept interface {
	// Save stores the session's record with Keeper.Save, even if nothing has changed.
	Save()
	// End ends the session.
	End(why error)
	// Move ends the session with ErrMoved if it has nothing under way. It reports whether the
	// session has ended.
	Move() bool
}

// A kept is what a session needs if a Keeper keeps its record.
type kept struct {
	restored chan struct{} // closed when the session is what its record says
	saving   sync.Mutex
	saved    atomic.Uint64 // the version of the router's session that the Keeper has got
}

// keyText returns a key in the form that Keepers get.
func (r *Registry[S, C]) keyText(key any) string {
	if k, ok := key.(Key); ok {
		key = k.principal.String() + "\n" + k.view
	}
	return fmt.Sprintf("%s %s", r.front.Name, key)
}

// load returns the record of a session that this process does not have.
func (r *Registry[S, C]) load(ctx context.Context, key any, who *Caller) ([]byte, error) {
	if r.front.Keeper == nil {
		return nil, nil
	}
	return r.front.Keeper.Load(ctx, r.keyText(key), who)
}

// restore makes a new session what it was when its record was stored. Other requests of the session
// wait until it returns.
func (s *Session[S, C]) restore(record []byte) {
	if s.kept == nil {
		return
	}
	if record != nil {
		s.registry.front.Restore(s.owner, record)
	}
	s.kept.saved.Store(s.Router.Changes())
	s.Router.StoreWith(s.SaveChanges)
	s.registry.front.Keeper.Began(s.registry.keyText(s.key), &s.Caller, s)
	if s.Ended() {
		s.endKept() // again, as the Keeper may not have known it the first time
	}
	close(s.kept.restored)
}

// endKept tells the Keeper that the session has ended.
func (s *Session[S, C]) endKept() {
	s.mu.Lock()
	why := s.why
	s.mu.Unlock()
	s.kept.saving.Lock() // Save must not store the record after that
	defer s.kept.saving.Unlock()
	s.registry.front.Keeper.Ended(s.registry.keyText(s.key), &s.Caller, s, why)
}

// SaveChanges stores the record of the session if that has changed since the last time. Fronts call
// it before the response to a request: the client must not rely on what another process would not
// know.
func (s *Session[S, C]) SaveChanges() {
	if s.kept != nil && s.kept.saved.Load() != s.Router.Changes() {
		s.Save()
	}
}

// Save implements Kept.
func (s *Session[S, C]) Save() {
	s.kept.saving.Lock()
	defer s.kept.saving.Unlock()
	if s.Ended() {
		return
	}
	front := &s.registry.front
	version := s.Router.Changes()
	err := front.Keeper.Save(s.registry.keyText(s.key), &s.Caller, front.Record(s.owner))
	s.kept.saved.Store(version) // after an error, too: the Keeper tries again
	if err == ErrMoved {
		go s.End(ErrMoved) // after the response that waits for Save
	}
}

// Move implements Kept. GET streams and subscriptions do not count as being under way: clients open
// them again.
func (s *Session[S, C]) Move() bool {
	if !s.Router.AwaitsClient() {
		s.endIf(func() bool { return !s.underWayLocked() }, ErrMoved)
	}
	return s.Ended()
}

// underWayLocked reports whether a request is being served that is no stream.
func (s *Session[S, C]) underWayLocked() bool {
	for _, r := range s.requests {
		if !r.open || !s.registry.front.StaysOpen(r.of) {
			return true
		}
	}
	return s.users > s.streams
}

// Recorded reports whether a Keeper keeps the session's record.
func (s *Session[S, C]) Recorded() bool { return s.kept != nil }

// AddStream counts a stream that stays open between calls, or with -1 no longer.
func (s *Session[S, C]) AddStream(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams += n
}
