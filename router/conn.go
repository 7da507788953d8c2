package router

import (
	"cmp"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"toolman/jsonrpc/peer"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/audit"
	"toolman/router/budget"
	"toolman/router/catalog"
	"toolman/router/policy"
	"toolman/router/tracing"
	"toolman/router/view"
)

// A conn is the connection to one client: who the client is, what it has said of itself, and how its
// requests are answered, traced and audited.
type conn struct {
	who      Client
	label    string // what the audit log calls the session
	policy   *policy.Policy
	front    front
	log      *zap.Logger
	trace    *tracing.Tracer
	clock    *tracing.Clock
	audit    *audit.Writer // nil: no audit log
	ownNames []string      // names of toolman's own tools
	view     atomic.Pointer[view.View]

	mu      sync.Mutex  // held while one message of the client is handled
	peer    clientState // guarded by mu, but for name
	account account     // guarded by mu
}

// A front is where the client's messages come from and where those for it go.
type front struct {
	out      peer.Sender
	batches  atomic.Pointer[peer.BatchResponder] // to out, from the first batch of requests on
	streams  Streams                             // nil: all goes to out
	observer CallObserver                        // nil: there is none
	checker  CallChecker                         // nil: there is none
}

// A clientState is what the client has said of itself.
type clientState struct {
	name      atomic.Pointer[string] // for the log and the trace
	hello     *mcpwire.Hello         // nil until initialize
	revision  string                 // what was agreed on
	meta      *mcpwire.Claim         // what modern servers are told of the client
	ready     bool                   // it takes requests and notifications
	modern    bool                   // it has sent a modern request
	listsOnce bool                   // it was seen not to list again
}

// name is how the client calls itself.
func (s *conn) name() string {
	if name := s.peer.name.Load(); name != nil {
		return *name
	}
	return cmp.Or(s.who.Name, "client")
}

// connected keeps a name of the client for the log and the trace, and logs that it is there. What it
// calls itself may be long.
func (s *conn) connected(hello *mcpwire.Hello, revision string) {
	name := sanitize.Line(sanitize.First(hello.Name, catalog.NameLimit))
	if name != "" {
		s.peer.name.Store(&name)
	}
	s.log.Info("client connected", zap.String("session", name+" "+sanitize.Line(sanitize.First(hello.NameVersion, catalog.NameLimit))), zap.String("revision", revision))
}

// inSession reports whether the client has initialized: without that it wants no
// notifications but those it asks for.
func (s *conn) inSession() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peer.hello != nil
}

func eraOf(modern bool) mcpwire.Era {
	if modern {
		return mcpwire.Modern
	}
	return mcpwire.Legacy
}

// An account is what the session keeps of its client's budget.
type account struct {
	retained int  // bytes of Client.Account
	ended    bool // it keeps none any more
}

// retainLocked takes bytes from the client's account for something that is kept. The error is a
// *budget.LimitError.
func (s *conn) retainLocked(n int) error {
	if s.account.ended {
		return nil
	}
	if err := s.who.Account.Take(budget.Bytes, int64(n)); err != nil {
		return err
	}
	s.account.retained += n
	return nil
}

// freeLocked gives back bytes for what is kept no more.
func (s *conn) freeLocked(n int) {
	if !s.account.ended {
		s.account.retained -= n
		s.who.Account.Give(budget.Bytes, int64(n))
	}
}

// freeAllLocked gives back all bytes: the session has ended.
func (s *conn) freeAllLocked() {
	s.freeLocked(s.account.retained)
	s.account.ended = true
}

// waitBytes is how many bytes of messages wait on either side. One message may wait whatever its size.
const waitBytes = 64 << 20

// overBytes reports whether what waits already leaves no room for size bytes more.
func overBytes[T interface{ size() int }](waiting []T, size int) bool {
	return len(waiting) > 0 && sizeOf(waiting)+size > waitBytes
}

func sizeOf[T interface{ size() int }](waiting []T) (size int) {
	for _, w := range waiting {
		size += w.size()
	}
	return size
}
