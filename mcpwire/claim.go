package mcpwire

import "toolman/jsonrpc"

// A Claim is an envelope ready to be put into requests: what toolman says, in a
// legacy client's place, of that client to a modern server. It is made once for a
// client and a log level, and then costs nothing.
type Claim struct {
	inside []byte // the members, each with a comma behind it
	whole  []byte // "_meta":{…}, with a comma behind it
}

// NewClaim makes a claim at the newest revision. capabilities is a JSON object, nil
// for none; info is the client's Implementation object, nil when it is not known;
// level is the log level that it wants to hear of, "" for no log messages.
func NewClaim(capabilities, info []byte, level string) *Claim {
	c := &Claim{whole: []byte(`"_meta":{`)}
	start := len(c.whole)
	c.whole = append(c.whole, `"`+KeyVersion+`":"`+Newest+`","`+KeyCapabilities+`":`...)
	if capabilities == nil {
		capabilities = []byte("{}")
	}
	c.whole = append(c.whole, capabilities...)
	if info != nil {
		c.whole = append(append(c.whole, `,"`+KeyClientInfo+`":`...), info...)
	}
	if level != "" {
		c.whole = jsonrpc.AppendQuoted(append(c.whole, `,"`+KeyLogLevel+`":`...), level)
	}
	c.inside = append(append(c.inside, c.whole[start:]...), ',')
	c.whole = append(c.whole, "},"...)
	return c
}

// Claim makes the claim that stands for the client, which declares all that it can
// do but tasks: those of its revision have no like in the modern era.
func (h *Hello) Claim(level string) *Claim {
	capabilities := appendMembers(nil, h.Capabilities, func(out []byte, key string, value []byte) []byte {
		if key == "tasks" {
			return nil
		}
		return append(out, value...)
	})
	return NewClaim(capabilities, h.Info, level)
}

// AppendParams appends the params of a request of toolman's own: the claim and
// members, which is a list of further members or empty.
func (c *Claim) AppendParams(dst, members []byte) []byte {
	dst = append(dst, '{')
	if len(members) == 0 {
		dst = append(dst, c.whole[:len(c.whole)-1]...)
	} else {
		dst = append(append(dst, c.whole...), members...)
	}
	return append(dst, '}')
}

// AddTo appends edits that put the claim into a legacy client's request, which has
// the envelope e: into params._meta, whichever of the two is missing. Whatever the
// client had of these keys goes.
func (c *Claim) AddTo(edits []jsonrpc.Edit, m *jsonrpc.Message, e *Envelope) []jsonrpc.Edit {
	edits = jsonrpc.AppendRemoval(edits, m.Frame, e.Meta.Value, e.Version, e.Capabilities, e.ClientInfo, e.LogLevel)
	return addMeta(edits, m, e.Meta, c.inside, c.whole)
}
