package streamhttp

import (
	"cmp"
	"net/http"

	"toolman/jsonrpc/peer"
	"toolman/mcpwire/streamhttp/internal/endpoint"
)

// Options say where a server is and what a connection to it may cost.
type Options struct {
	// URL is the server's MCP endpoint, http or https.
	URL string
	// Header is sent with every request. Headers of the transport itself take precedence.
	Header http.Header
	// Credential authorizes every request; nil: only Header does.
	Credential Credential
	// CAFile names a file of PEM certificates that are trusted in addition to the system's.
	CAFile string
	// FrameLimit is the longest message taken, in bytes; 0: jsonrpc.DefaultFrameLimit.
	FrameLimit int
	// QueueLimit is the number of bytes of messages that may wait to be sent; 0:
	// jsonrpc.DefaultQueueLimit.
	QueueLimit int
	// Parallel is the number of requests in flight, not counting subscriptions; 0: 512.
	Parallel int
	// Log gets what users should know and no message says; nil: it is dropped. It must not block.
	Log func(text string)
}

// A Credential authorizes requests.
type Credential = endpoint.Credential

func (o *Options) fill() {
	o.FrameLimit = cmp.Or(o.FrameLimit, peer.DefaultFrameLimit)
	o.QueueLimit = cmp.Or(o.QueueLimit, peer.DefaultQueueLimit)
	o.Parallel = cmp.Or(o.Parallel, 512)
	if o.Log == nil {
		o.Log = func(string) {}
	}
}
