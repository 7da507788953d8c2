package discovery

import (
	"sync"

	"toolman/mcpwire"
)

// A ClientHello is what shared servers are told of a client: the first that connects.
type ClientHello struct {
	once  sync.Once
	Done  chan struct{} // closed when Hello is set
	Hello mcpwire.Hello // may be read after Done is closed
}

// NewClientHello returns a ClientHello that is not set.
func NewClientHello() *ClientHello { return &ClientHello{Done: make(chan struct{})} }

// Set sets Hello and closes Done. Only the first call has an effect.
func (g *ClientHello) Set(h mcpwire.Hello) {
	g.once.Do(func() {
		g.Hello = h
		close(g.Done)
	})
}
