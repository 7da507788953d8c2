//go:build !unix

package streamhttp

// canTell says that silent can tell.
const canTell = false

func (c *directConn) silent() bool { return false }
