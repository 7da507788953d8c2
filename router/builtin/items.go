package builtin

import (
	"cmp"
	"time"

	"toolman/jsonrpc/peer"
	"toolman/jsonrpc/trace"
	"toolman/router/client"
	"toolman/router/clientstate"
	"toolman/router/metatool"
	"toolman/router/pool"
	"toolman/router/subscribe"
	"toolman/router/toolset"
	"toolman/router/view"
)

// Settings are the same for all sessions of a router.
type Settings struct {
	Settle       time.Duration // how long the reply to an activation waits for the client to list the tools again
	CatalogBytes int
	Mode         view.Mode
	AlwaysLoad   *bool
	Shelf        toolset.Shelf // nil: toolsets cannot be saved
	Host         Host
}

// A Host is what Items need of the router.
type Host interface {
	// Toolsets returns the toolsets of tools.toml.
	Toolsets() []toolset.Set
	// Library returns the toolsets that the client may see. It may wait for the disk.
	Library(info *client.Info) *metatool.Library
	// ShelfError returns an error of the saved toolsets in a form that is safe for the client.
	ShelfError(info *client.Info, err error) error
	// ViewChanged is called after the client has changed its view with a tool of toolman. name is
	// what the client calls itself.
	ViewChanged(info *client.Info, name string, before, after *view.View)
	// Opened reports whether list requests need no longer wait for servers.
	Opened() bool
}

// Items are what toolman itself offers to a client. Conn.Mu guards them.
type Items struct {
	*pool.Servers
	Settings      *Settings
	Offers        view.MetaTools            // those of toolman's own tools that the client is offered
	Tools         map[string]*metatool.Tool // the toolset tools
	Subscriptions *subscribe.Set
	Waiting       *client.Waiting
	Route         func(*client.Request) // serves the call that a call of toolman_call stands for
	shared        *clientstate.Member   // with the client's other sessions; nil: nothing is shared
	replies       []*pendingReply       // until the client has listed the tools again
	logins        map[string]*openLogin // by server: those whose end no call has reported yet
}

// AtStart returns the definitions of toolman's own tools and the variant of the lists for a client
// that has not sent a message yet.
func AtStart(settings *Settings) (*metatool.Definitions, view.Variant) {
	s := &Items{Servers: &pool.Servers{Conn: &client.Conn{}}, Settings: settings}
	return s.Definitions(), s.Variant(false)
}

// Instructions returns the instructions for a client of an era.
func (s *Items) Instructions(modern bool) string {
	return metatool.Instructions(s.mode(modern), s.Offers)
}

// Definitions returns the definitions of toolman's own tools.
func (s *Items) Definitions() *metatool.Definitions {
	return &metatool.Definitions{Own: s.Tools, Toolsets: s.Settings.Host.Toolsets(), CatalogBytes: s.Settings.CatalogBytes}
}

// Guidance returns what refusals of the client's requests of an era may refer to.
func (s *Items) Guidance(modern bool) *metatool.Guidance {
	return &metatool.Guidance{Mode: s.mode(modern), Offers: s.Offers, Tools: s.Tools, Fixed: cmp.Or(s.Info.Static, metatool.FixedByMode), Lists: s.Info.Lists}
}

// CatalogReady reports whether requests that need the catalog can be served.
func (s *Items) CatalogReady() bool { return s.Settings.Host.Opened() && s.Awaited == 0 }

// Share makes the session share its activations with the other sessions of its client. It must be
// called before the session handles messages.
func (s *Items) Share(store *clientstate.Store, k clientstate.Key) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	member, a := store.Join(k, func() {
		s.WithLock(s.Follow)
		s.Tracker.Store() // the session's record may be the first that another process restores
	})
	s.shared = member
	s.View.Store(s.View.Load().Activated(a))
}

// Restore gives the client the activations of its record, unless the client has other sessions,
// which know better.
func (s *Items) Restore(a view.Activations) {
	nothing := len(a.Tools)+len(a.Resources) == 0 && a.Toolsets == nil
	if s.shared.Begins() && !(nothing && s.shared != nil) { // another session's record may have more
		s.shared.Replace(a)
		s.View.Store(s.View.Load().Activated(a))
	}
}

// Follow gives the client the activations of its other sessions.
func (s *Items) Follow(out *peer.Outgoing) {
	a, changed := s.shared.Latest()
	if !changed {
		return
	}
	before := s.View.Load()
	after := before.Activated(a)
	s.View.Store(after)
	s.Tracker.Changed()
	if !s.CatalogReady() {
		return
	}
	if s.Trace.On() {
		s.Trace.Event(trace.EventActivate, "", confirmation(switched(before, after)), 0)
	}
	s.Announce(before, after, out)
}

// Leave ends what Share began.
func (s *Items) Leave() { s.shared.Leave() }

// Variant returns the variant of the lists for the client's requests of an era.
func (s *Items) Variant(modern bool) view.Variant {
	return view.Variant{Modern: modern, Mode: s.mode(modern), AlwaysLoad: s.alwaysLoad(), Habits: view.HabitsOf(s.Name()), Offers: s.Offers}
}

// alwaysLoad reports whether lists mark tools as always loaded.
func (s *Items) alwaysLoad() bool {
	if fixed := s.Settings.AlwaysLoad; fixed != nil {
		return *fixed
	}
	return view.HabitsOf(s.Name()).Defers
}

// mode returns the mode for the client's requests of an era. Lists change only for clients that can
// receive list_changed: those of the modern era must have a subscription for it.
func (s *Items) mode(modern bool) view.Mode {
	switch {
	case s.Info.Static != "":
		return view.ModeStatic
	case s.Settings.Mode != view.ModeAuto:
		return s.Settings.Mode
	case modern && !s.Subscriptions.HearsOfTools():
		return view.ModeCall
	case !modern && view.HabitsOf(s.Name()).ListsOnce:
		return view.ModeCall
	}
	return view.ModeMutate
}
