package cluster

import (
	"bytes"
	"net/http"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/router/httpd/cluster/failure"
	"toolman/router/httpd/cluster/hop"
)

// A Front is a front whose requests are forwarded.
type Front struct {
	Bridge bool // its requests are not JSON-RPC, and no session has an ID
	// Identify returns what the owner has to know of the client that sends a request.
	Identify func(r *http.Request) hop.Head
	// Forwarded is called before a request is forwarded to a replica. It may be nil.
	Forwarded func(r *http.Request, replica string)
}

// as returns a failure as the clients of the front understand it.
func (f *Front) as(why failure.Failure) *failure.Failure {
	why.Bridge = f.Bridge
	return &why
}

// repeats reports whether a request may be sent again if it may have been carried out: it calls no
// tool.
func (f *Front) repeats(r *http.Request, body []byte) bool {
	if r.Method != http.MethodPost {
		return true
	}
	if f.Bridge {
		return r.URL.Path == "/tools"
	}
	var m jsonrpc.Message
	return jsonrpc.Scan(bytes.TrimSpace(body), &m) == nil && mcpwire.MethodOf(m.Text(m.Method)) != mcpwire.ToolsCall
}
