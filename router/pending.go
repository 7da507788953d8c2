package router

import (
	"errors"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

var errInput = errors.New("the server needs input from the client, which this toolman cannot ask for across revisions yet")

func (s *Session) beginRound(u *Upstream, c *call, m *jsonrpc.Message, r *mcpwire.Result, b *jsonrpc.Batch) error {
	return errInput
}
