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
	Login        dial.Login    // of a person, for connections by Dial; nil: there is none
	StartTimeout time.Duration // how long the first list waits for it
	CallTimeout  time.Duration // 0: none
	MaxCalls     int           // calls at once; 0: no limit
	MaxCallsAt   string        // where MaxCalls is configured, such as tools.toml:12
	Era          mcpwire.Era   // Unknown: found by the handshake
	Share        Share
	Stateless    bool         // its processes remember nothing of a client: any replica's will do
	Restart      dial.Restart // of Command; connections by Socket and Dial are always made again
	// ForSession returns the server for one session, from the configuration that its client has
	// sent (client.Info.Config). Each session then has a process or connection of its own. The
	// session goes without the server if there is an error, which must not contain the client's
	// values. If ForSession is nil, all sessions use the same configuration.
	ForSession func(config map[string]string) (Server, error)
	Release    func()       // called when what ForSession has returned is no longer needed; may be nil
	Cache      []cache.Rule // of which tools results are kept, and for how long
	// Memory keeps what the server offers for the next run of toolman; nil: nothing does.
	Memory     recall.Memory
	Lazy       bool // if its items are known from an earlier run, it starts when a request needs it
	FrameLimit int  // longest message in bytes that is accepted from it; 0: the default
}

// Share says which sessions use the process of a server.
type Share uint8

// The values of Share. With ShareAuto all sessions share a process, unless the server could send
// requests to a client: a server of the legacy era does not say during which call it does so.
// Therefore a client that can answer such requests gets a dedicated process.
const (
	ShareAuto Share = iota
	ShareAlways
	ShareNever
)

// ParseShare returns the Share with this name: auto, always or never.
func ParseShare(name string) Share {
	switch name {
	case "always":
		return ShareAlways
	case "never":
		return ShareNever
	}
	return ShareAuto
}

// startTimeoutFactor is how many times its StartTimeout a server may take to start before it is
// stopped. After one StartTimeout the first list no longer waits for it, unless Upstream.Await was
// called. The factor is large because npx downloads packages when it runs a server first.
const startTimeoutFactor = 6

// Status is the state of an upstream for reports.
type Status struct {
	Name, Namespace string
	State           State
	Problem         string        // why it is gone
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

// Era returns the era of the server, "" before the handshake.
func (s *Status) Era() string {
	if s.Result.ProtocolVersion == "" {
		return ""
	}
	return mcpwire.EraOf(s.Result.ProtocolVersion).String()
}
