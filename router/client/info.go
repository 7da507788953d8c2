package client

import (
	"toolman/jsonrpc/peer"
	"toolman/router/budget"
	"toolman/router/policy"
	"toolman/router/view"
)

// A Info says for whom a session is.
type Info struct {
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
