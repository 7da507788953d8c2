package mcpwire

import (
	"fmt"

	"toolman/jsonrpc"
)

// Limits on what is remembered of a client's messages, in bytes. The specification has none.
const (
	MaxID       = 1 << 10  // of an ID or a progress token
	MaxURI      = 8 << 10  // of a URI that is subscribed to
	MaxDeclared = 64 << 10 // of capabilities, and of clientInfo
	MaxRevision = 64       // of a protocolVersion
)

// CheckID returns an error if a request's ID is over MaxID.
func CheckID(m *jsonrpc.Message) error { return tooLong("id", m.ID.Hi-m.ID.Lo, MaxID) }

// tooLong says that a member is over its limit; nil: it is not.
func tooLong(what string, size, limit int) error {
	if size <= limit {
		return nil
	}
	return invalid(fmt.Sprintf("%s is %d bytes long; toolman remembers %d at most", what, size, limit))
}
