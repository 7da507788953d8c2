package streamhttp

import (
	"strconv"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

const maxPages = 100 // of a list

// listed delivers a list of tools, without those that must not be used over HTTP.
func (c *Conn) listed(m *jsonrpc.Message) {
	edits, wrong := c.params.Learn(m)
	for _, err := range wrong {
		c.o.Log(err.Error())
	}
	if edits != nil {
		c.in.frames(jsonrpc.AppendSplice(nil, m.Frame, edits...))
		return
	}
	c.in.message(m)
}

// relist reads the list of tools for a call whose headers did not match, and reports whether the
// call is worth another try (2026-07-28, Custom Headers from Tool Parameters).
func (c *Conn) relist(p *post) bool {
	var envelope mcpwire.Envelope
	envelope.Read(&p.msg) // was valid when the call was sent
	var info []byte
	if envelope.ClientInfo.Present() {
		info = p.msg.Bytes(envelope.ClientInfo.Value)
	}
	claim := mcpwire.NewClaim(p.msg.Bytes(envelope.Capabilities.Value), info, "")
	var members []byte
	for range maxPages {
		frame := strconv.AppendInt([]byte(`{"jsonrpc":"2.0","id":"relist-`), c.lastID.Add(1), 10)
		frame = append(frame, `","method":"`+string(mcpwire.ToolsList)+`","params":`...)
		m, f := c.ask(p.ctx, append(claim.AppendParams(frame, members), '}'))
		if f != nil || !m.Result.Present() {
			return false
		}
		c.params.Learn(m)
		next, err := m.Get(m.Result, "nextCursor")
		if err != nil || !m.IsString(next) {
			return err == nil
		}
		members = append([]byte(`"cursor":`), m.Bytes(next)...)
	}
	return false
}
