package router

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/router/budget"
	"toolman/router/catalog"
	"toolman/router/policy"
	"toolman/router/view"
)

// A Client says for whom a session is.
type Client struct {
	// Sole is the only client there will be, as on stdio: every server is its own,
	// learns what it can do, and may ask it back. Others share the servers that can be
	// shared.
	Sole bool
	// Many says that several programs speak through the session, each request of the
	// modern era for itself: those with one credential.
	Many bool
	// Name is what the log and the trace call it until it has said its own.
	Name string
	// Principal is who makes its requests. Clients of one principal share a bound on processes
	// of their own.
	Principal budget.Principal
	// Account is what the client may hold; nil: there is no limit. It stays open until the session ends.
	Account *budget.Account
	// Agent is whom it acts for, "" for nobody that is known: Options.PolicyOf knows what
	// that one may have.
	Agent string
	// Policy says what it may have; nil: that of its agent, or Options.Policy.
	Policy *policy.Policy
	// Only limits it further, to what these of Options.Toolsets have: tools, resources
	// and prompts, all of them active. A name of no toolset adds nothing, and no names
	// allow nothing. Nil: no limit.
	Only []string
	// AllActive says that it may call what it may have, active or not.
	AllActive bool
	// Static is what has it that it cannot switch anything on or off, such as a key of
	// tools.toml; "": it can, unless Options.Mode is ModeStatic.
	Static string
	// Lists is what lists tools for it; "": tools/list.
	Lists string
	// Config is what the client has said of itself, for Server.For. These are secrets.
	Config map[string]string
	// MetaTools are those of Options.MetaTools that it is offered; nil: all.
	MetaTools *view.MetaTools
}

// Streams are what a session's Sender implements when the client hears each open
// request on a stream of its own, as over HTTP. What belongs to one goes there; what
// does not, and answers, go to the Sender itself.
type Streams interface {
	// During returns where the client listens during its request with this id; nil
	// when that is not open. The id is valid until During returns.
	During(id []byte) peer.Sender
}

// A CallChecker is implemented by a session's Sender that checks calls of tools against more than
// the message. It is called with locks held, and must not call the router.
type CallChecker interface {
	// CheckCall returns why a call is refused; nil if it is not.
	CheckCall(m *jsonrpc.Message, tool *catalog.Entry) *mcpwire.Refusal
}

// sessions are those that a router has.
type sessions struct {
	mu   sync.Mutex
	all  map[*Session]bool // guarded by mu
	made int               // guarded by mu: how many there ever were
}

// add keeps a session, and returns what to call it: a run's only client as the run.
func (x *sessions) add(s *Session, run string) (label string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.all == nil {
		x.all = map[*Session]bool{}
	}
	x.all[s] = true
	x.made++
	if s.who.Sole {
		return run
	}
	return fmt.Sprintf("%s.%d", run, x.made)
}

func (x *sessions) remove(s *Session) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.all, s)
}

func (x *sessions) count() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.all)
}

// list returns all sessions, in no order.
func (x *sessions) list() []*Session {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Collect(maps.Keys(x.all))
}

// sessions returns those whose server this is: its owner, or all that share it.
func (u *Upstream) sessions() []*Session {
	if s := u.private.owner.Load(); s != nil {
		return []*Session{s}
	}
	return slices.DeleteFunc(u.r.sessions.list(), func(s *Session) bool { return !s.uses(u) })
}

// uses reports whether the session has this upstream, and neither an own one in its place nor none.
func (s *Session) uses(u *Upstream) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.servers.all, u) && s.servers.missing[u] == nil
}
