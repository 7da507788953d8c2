package upstream

import (
	"time"

	"toolman/mcpwire"
	"toolman/router/catalog"
	"toolman/router/dial"
	"toolman/spawn"
)

// A Server is one upstream to start.
type Server struct {
	// Fingerprint is equal for two servers that a running one may serve for both.
	Fingerprint string
	Name        string // what policies call it; "": the namespace
	Namespace   string
	Command     spawn.Command // what starts it, without Socket and Dial; its Stderr is set by the router
	// Socket is the path of the Unix socket that the server listens on, if it runs already.
	Socket string
	// Dial connects to a server that is reached in another way; nil: it is not. It does not
	// wait for the network. said takes what the log should know.
	Dial         func(said func(line string)) (dial.Conn, error)
	StartTimeout time.Duration // how long the first list waits for it
	CallTimeout  time.Duration // 0: none
	MaxCalls     int           // calls of the client that it has at once; 0: any number
	MaxCallsAt   string        // where that is written, such as tools.toml:12
	Era          mcpwire.Era   // Unknown: as it turns out
	Share        Share         // among sessions
	// For makes the server of one session, from what its client has said (Client.Config).
	// The session then has a process, or connection, of its own, and none is shared. An
	// error, which holds nothing that was said, is why the session goes without. Nil: all
	// sessions have the same.
	For func(config map[string]string) (Server, error)
	// Release is called when the server that For has made is not needed any more; may be nil.
	Release    func()
	FrameLimit int // bytes of the longest message taken from it; 0: the default
}

// Share says who uses the process of a server.
type Share uint8

// The ways to share. Left to itself, a process is shared by all sessions unless the
// server could ask a client something: one of the handshake's eras does not say during
// which call, so that a client that can be asked has a process of its own.
const (
	ShareAuto Share = iota
	ShareAlways
	ShareNever
)

// ParseShare returns the way that has this name: auto, always or never.
func ParseShare(name string) Share {
	switch name {
	case "always":
		return ShareAlways
	case "never":
		return ShareNever
	}
	return ShareAuto
}

// startTimeoutFactor is how many times its StartTimeout a server may take to start before it
// is stopped. Between the two it is waited for in the background (Router.Await: by the
// first list): the first run of npx downloads.
const startTimeoutFactor = 6

// Status is what is known of an upstream.
type Status struct {
	Name, Namespace string
	State           State
	Problem         string        // why it is gone
	Retry           time.Duration // until it is tried again, or a second if that is now; 0: it is not gone, or not tried
	Result          mcpwire.InitializeResult
	Took            time.Duration // from start to ready
	StartTimeout    time.Duration // of its configuration
	Patience        time.Duration // how long the first list waits for it: StartTimeout or, if it is awaited, until it is given up
	Starts          int           // connections that were made to it, those of single sessions included
	Junk            int           // lines on its output that were no messages
	Entries         [mcpwire.Kinds][]*catalog.Entry
	Unread          [mcpwire.Kinds]string // why a list of a ready server is not known as it is now, or not whole
	Stderr          string                // its last lines
}

// Era returns the era that the server is of, "" before that is known.
func (s *Status) Era() string {
	if s.Result.ProtocolVersion == "" {
		return ""
	}
	return mcpwire.EraOf(s.Result.ProtocolVersion).String()
}
