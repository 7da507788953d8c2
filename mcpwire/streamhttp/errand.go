package streamhttp

import "toolman/jsonrpc"

// An errand is a request that is sent on the goroutine of who has queued it. That saves
// two changes of goroutines, which cost more than all else that is done for a small call. It
// has to come back with the answer, or when there is something to hand on before that:
// then the rest is a goroutine of its own again.
type errand struct {
	c *Conn
	p *post
}

// Entrust implements jsonrpc.Courier.
func (c *Conn) Entrust(m *jsonrpc.Message, edits []jsonrpc.Edit) (jsonrpc.Errand, error) {
	p, err := newPost(m, edits)
	if err != nil {
		return nil, err
	}
	p.errand = p.msg.Kind == jsonrpc.Request
	if err := c.queue(p); err != nil || !p.errand {
		return nil, err
	}
	return errand{c, p}, nil
}

// Run implements jsonrpc.Errand.
func (e errand) Run(l jsonrpc.Lender) {
	e.p.lender = l
	l.Away()
	e.c.request(e.p)
	l.Back()
}

// back says that there is something to hand on.
func (p *post) back() {
	if p.lender != nil {
		p.lender.Back()
	}
}

// away says that there is more to wait for.
func (p *post) away() {
	if p.lender != nil {
		p.lender.Away()
	}
}

// handedOver is not a failure: another goroutine goes on with a post.
var handedOver = &failure{}

// handOver goes on with what is under way for an errand on a goroutine of the post's own.
func (c *Conn) handOver(p *post, rest func() *failure) *failure {
	p.lender = nil
	go func() { c.conclude(p, rest()) }()
	return handedOver
}
