package router

import (
	"fmt"

	"toolman/jsonrpc"
	"toolman/mcpwire/inputreq"
	"toolman/router/upstream"
)

// named is a request of the server, or its response, in which each message for the client's user
// begins with the server's name. It is m itself where there is no such message.
func named(u *upstream.Upstream, m *jsonrpc.Message) (*jsonrpc.Message, error) {
	edits, err := inputreq.NameAsker(nil, m, u.Name)
	if err != nil || len(edits) == 0 {
		return m, err
	}
	named := new(jsonrpc.Message)
	return named, jsonrpc.Scan(jsonrpc.AppendSplice(nil, m.Frame, edits...), named)
}

// namedResponse is named for a response; elicits reports whether its result may ask something. A
// response in which it is not clear what the user is asked becomes an error.
func namedResponse(u *upstream.Upstream, m *jsonrpc.Message, elicits bool) *jsonrpc.Message {
	if !elicits && !m.Err.Present() {
		return m
	}
	said, err := named(u, m)
	if err != nil {
		said = new(jsonrpc.Message)
		text := fmt.Sprintf(untranslatable, u.Name, err)
		_ = jsonrpc.Scan(jsonrpc.AppendError(nil, m.Bytes(m.ID), jsonrpc.CodeInternalError, text, nil), said) // toolman's own frame
	}
	return said
}
