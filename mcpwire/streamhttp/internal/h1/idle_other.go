//go:build !unix

package h1

// canCheck reports whether idleAlive works.
const canCheck = false

func (c *conn) idleAlive() bool { return false }
