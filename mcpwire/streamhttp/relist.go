package streamhttp

import (
	"context"
	"strconv"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

const maxPages = 100

// ask makes a request of the transport's own, and returns the answer.
func (c *Conn) ask(ctx context.Context, frame []byte) (*jsonrpc.Message, *failure) {
	var m jsonrpc.Message
	err := jsonrpc.Scan(frame, &m)
	if err != nil {
		return nil, &failure{text: c.where + ": " + err.Error()}
	}
	p, err := newPost(&m, nil)
	if err != nil {
		return nil, &failure{text: err.Error()}
	}
	var got *jsonrpc.Message
	p.own = func(m *jsonrpc.Message) {
		got = new(jsonrpc.Message)
		if jsonrpc.Scan(append([]byte(nil), m.Frame...), got) != nil {
			got = nil
		}
	}
	p.ctx, p.cancel = context.WithTimeout(ctx, noteTime)
	defer p.cancel()
	c.mu.Lock()
	c.pending++
	c.waiting += len(p.frame)
	c.mu.Unlock()
	defer c.finish(p)
	if f := c.attempt(p); f != nil {
		return nil, f
	}
	if got == nil && p.id != "" {
		return nil, &failure{text: c.where + ": the server did not answer in time"}
	}
	return got, nil
}

// relist reads the list of tools for a call whose headers did not match, and reports
// whether the call is worth another try (2026-07-28, Custom Headers from Tool Parameters).
func (c *Conn) relist(p *post) bool {
	cursor := []byte(nil)
	for range maxPages {
		m, f := c.ask(p.ctx, listFor(p, c.asked.Add(1), cursor))
		if f != nil || !m.Result.Present() {
			return false
		}
		c.params.learn(m)
		next, err := m.Get(m.Result, "nextCursor")
		if err != nil || !m.IsString(next) {
			return err == nil
		}
		cursor = m.Bytes(next)
	}
	return false
}

// listFor is a request of a list of tools in the name of a call's sender.
func listFor(p *post, n int64, cursor []byte) []byte {
	frame := []byte(`{"jsonrpc":"2.0","id":"relist-`)
	frame = append(strconv.AppendInt(frame, n, 10), `","method":"`+string(mcpwire.ToolsList)+`","params":{`...)
	if cursor != nil {
		frame = append(append(append(frame, `"cursor":`...), cursor...), ',')
	}
	e, _ := mcpwire.EnvelopeOf(&p.msg)
	frame = append(frame, `"_meta":{"`+mcpwire.KeyVersion+`":`...)
	frame = append(frame, p.msg.Bytes(e.Version.Value)...)
	for key, at := range map[string]jsonrpc.Member{mcpwire.KeyCapabilities: e.Capabilities, mcpwire.KeyClientInfo: e.ClientInfo} {
		if at.Present() {
			frame = append(append(append(frame, `,"`...), key...), `":`...)
			frame = append(frame, p.msg.Bytes(at.Value)...)
		}
	}
	return append(frame, "}}}"...)
}
