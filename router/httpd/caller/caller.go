// Package caller says which client sends an HTTP request, and why a request is denied.
package caller

import (
	"net/netip"

	"toolman/router/client"
	"toolman/router/principal"
)

// A Caller is the client that sends a request. Sessions belong to one caller, and no other can use
// them.
type Caller struct {
	// View distinguishes the views of one principal. It is equal as long as the configuration and
	// the client's own settings are. It contains no secret.
	View   string
	Client client.Info // fronts set Sole and Many
	Addr   netip.Addr  // of the client
}

// A Key is equal for the requests of one caller.
type Key struct {
	principal principal.Principal
	view      string
}

// Key returns the key of the caller's sessions.
func (c *Caller) Key() Key { return Key{c.Client.Principal, c.View} }

// A Denial is the error of a request that is not served.
type Denial struct {
	Status int    // HTTP status code
	Text   string // what is wrong, and what to do
}

// Error implements error.
func (d *Denial) Error() string { return d.Text }
