package upstream

import (
	"time"

	"toolman/mcpwire"
	"toolman/router/cache"
	"toolman/router/catalog"
	"toolman/router/dial"
	"toolman/router/recall"
	"toolman/spawn"
)

// A Server is the configuration of an upstream server.
type Server struct {
	// Fingerprint is equal for two configurations that the same running server can serve.
	Fingerprint string
	Name        string // in policies; "": Namespace
	Namespace   string
	Unusable    string        // why it cannot be started, and what to do; "": it can
	Command     spawn.Command // starts it, unless Socket or Dial is set; the upstream sets Stderr
	// Socket is the path of the Unix socket of a server that runs already; "" if there is none.
	Socket string
	// Dial connects to a server in another way, such as HTTP; nil if there is none. It must not
	// wait for the network. log receives what the connection reports outside the protocol.
	Dial         func(log func(line string)) (dial.Conn, error)
	Login        dial.Login    // for connections by Dial; nil: the server takes none
	StartTimeout time.Duration // how long the first list waits for it
	StartLimit   time.Duration // after which it is stopped if it is not ready; 0: startTimeoutFactor times StartTimeout
	CallTimeout  time.Duration // 0: none
	MaxCalls     int           // calls at once; 0: no limit
	MaxCallsAt   string        // where MaxCalls is configured, such as tools.toml:12
	Era          mcpwire.Era   // Unknown: found by the handshake
	Share        dial.Share
	Stateless    bool         // its processes remember nothing of a client: any replica's will do
	Restart      dial.Restart // of Command; connections by Socket and Dial are always made again
	// ForSession returns the server for one session, from its agent, or "", and the configuration
	// that its client has sent (client.Info.Config). Each session then has a process or connection
	// of its own. The session goes without the server if there is an error, which must not contain
	// the client's values. If ForSession is nil, all sessions use the same configuration.
	ForSession func(agent string, config map[string]string) (Server, error)
	Release    func()       // called when what ForSession has returned is no longer needed; may be nil
	Cache      []cache.Rule // of which tools results are kept, and for how long
	// Memory keeps what the server offers for the next run of toolman; nil: nothing does.
	Memory     recall.Memory
	Lazy       bool // if its items are known from an earlier run, it starts when a request needs it
	FrameLimit int  // longest message in bytes that is accepted from it; 0: the default
}

// startTimeoutFactor is how many times its StartTimeout a server without a StartLimit may take to
// start before it is stopped. After one StartTimeout the first list no longer waits for it, unless
// Upstream.Await was called. The factor is large because npx downloads packages when it runs a
// server first.
const startTimeoutFactor = 6

// Status is the state of an upstream for reports.
type Status struct {
	Name, Namespace string
	State           State
	Problem         string        // why it is gone
	Login           string        // it is gone until a person logs in with this command; "": that is not why
	Retry           time.Duration // time until it is started or connected to again, at least a second; 0: that is not planned
	Failures        int           // its ends in a row, the last of which it has not recovered from
	Result          mcpwire.InitializeResult
	Took            time.Duration // from start to ready
	StartTimeout    time.Duration // as configured
	Patience        time.Duration // how long the first list waits for it at most
	Starts          int           // connections that were made to it, including dedicated ones
	Junk            int           // lines of its output that were no messages
	Entries         [mcpwire.Kinds][]*catalog.Entry
	Unread          [mcpwire.Kinds]string // why a list of a ready server is out of date or incomplete; "" if it is not
	Stderr          string                // last lines of its standard error
}

// StateName returns the name of the state: "login" for a server that is gone until a person logs in.
func (s *Status) StateName() string {
	if s.Login != "" {
		return LoginState
	}
	return s.State.String()
}

// Era returns the era of the server, "" before the handshake.
func (s *Status) Era() string {
	if s.Result.ProtocolVersion == "" {
		return ""
	}
	return mcpwire.EraOf(s.Result.ProtocolVersion).String()
}
