package client

import (
	"cmp"

	"toolman/jsonrpc/peer"
	"toolman/router/budget"
	"toolman/router/policy"
	"toolman/router/view"
)

// An Info describes a client and what it may do.
type Info struct {
	// Sole says that there is no other client, as on stdio. The servers are all the client's own:
	// they are told of its capabilities and may send it requests. Other clients share servers.
	Sole bool
	// Many says that several programs speak through the session, as with one credential. Each
	// request of the modern era then describes its own program.
	Many bool
	// Name is the client's name in the log and the trace until it has sent its own.
	Name string
	// Session is the name of the session in the audit log; "": the router makes one.
	Session string
	// Principal is the owner of the requests. Clients of one principal share a limit on dedicated
	// processes.
	Principal budget.Principal
	// Account is the client's budget; nil: no limit. It stays open until the session ends.
	Account *budget.Account
	// Agent is the name that Options.PolicyOf gets; "": none.
	Agent string
	// Policy limits the items; nil: the policy of Agent, or Options.Policy.
	Policy *policy.Policy
	// Only limits the client further to the items of these toolsets of Options.Toolsets, which are
	// all active. Unknown names are ignored. An empty slice allows nothing; nil: no limit.
	Only []string
	// AllActive says that the client may call all items that it may have, active or not.
	AllActive bool
	// Static is the reason why the client cannot change what is active, such as a key of
	// tools.toml; "": it can, unless Options.Mode is ModeStatic.
	Static string
	// Lists is the way in which the client lists its tools, for messages; "": tools/list.
	Lists string
	// Config is the configuration that the client has sent, for upstream.Server.ForSession. It
	// contains secrets.
	Config map[string]string
	// Recorded says that the session has a record, from which another process can make it again.
	Recorded bool
	// MetaTools limits the tools of Options.MetaTools that the client is offered; nil: all.
	MetaTools *view.MetaTools
}

// LoginAgent returns the agent whose logins the client uses, or "": the one that its credential names,
// or else Agent.
func (i *Info) LoginAgent() string { return cmp.Or(i.Principal.Agent, i.Agent) }

// Streams is implemented by a session's Sender if the client has a stream for each open request, as
// over HTTP. Messages that belong to a request go to its stream. Other messages, and responses, go
// to the Sender itself.
type Streams interface {
	// During returns the stream of the open request with this ID, or nil if there is none. The ID
	// is valid until During returns.
	During(id []byte) peer.Sender
}
