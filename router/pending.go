package router

import (
	"errors"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

var errInput = errors.New("the server needs input from the client, which this toolman cannot ask for across revisions yet")

type parkedCall struct{}

func (s *Session) resumeLocked(m *jsonrpc.Message, b *jsonrpc.Batch, c *call, t target, retry *mcpwire.Retry) bool {
	s.refuse(m, b, c.method, refusal{code: jsonrpc.CodeInvalidParams, text: "this requestState was not given by toolman"})
	return false
}
func (s *Session) unpark(u *Upstream, c *call, m *jsonrpc.Message, b *jsonrpc.Batch) bool {
	return true
}
func (s *Session) beginRound(u *Upstream, c *call, m *jsonrpc.Message, r *mcpwire.Result, b *jsonrpc.Batch) error {
	return errInput
}
func (s *Session) askURLs(u *Upstream, c *call, m *jsonrpc.Message, b *jsonrpc.Batch) error {
	return errInput
}
