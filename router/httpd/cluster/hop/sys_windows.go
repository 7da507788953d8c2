package hop

import "golang.org/x/sys/windows"

// refused is the error of the system if nobody listens at an address.
const refused = windows.WSAECONNREFUSED

// canCheck reports whether alive works. Otherwise each request has a connection of its own: one
// that is closed must be known before a request is written.
const canCheck = false

func (c *conn) alive() bool { return false }
