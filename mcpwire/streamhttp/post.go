package streamhttp

import (
	"context"
	"fmt"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/httpheader"
)

// A post is a message to the server, which is sent with its own POST.
type post struct {
	frame   []byte
	msg     jsonrpc.Message // of frame
	id      string          // a request's, as a JSON token
	method  mcpwire.Method
	era     mcpwire.Era
	version string // that a modern message claims

	ctx    context.Context // ends if the message is cancelled, or no longer needs a response
	cancel context.CancelFunc
	after  []<-chan struct{} // closed when the message may be sent

	cancelled *post           // the open request that it cancels, or nil
	reacted   <-chan struct{} // closed when the server has reacted to that request

	// Conn.mu is held while these are closed.
	written chan struct{} // its bytes have been sent
	begun   chan struct{} // there is an HTTP response
	done    chan struct{} // the server has it, and has responded if it is a request

	writtenAt time.Time // set before written is closed, and not afterwards
	settled   func()    // guarded by Conn.mu: called when done; may be nil
	over      bool      // guarded by Conn.mu: it is answered or cancelled

	own    bool             // one of the transport's own messages
	answer *jsonrpc.Message // to an own request

	attempts
}

// attempts is the history of a post. The goroutine that sends the post owns it.
type attempts struct {
	tries        int     // failed ones
	session      session // in which it was sent
	renewed      bool    // sent again with a new credential
	revived      bool    // sent again in a new session
	relisted     bool    // sent again with the headers of a new list
	acknowledged bool    // a subscription that is or was open
}

// newPost copies a message with edits applied.
func newPost(m *jsonrpc.Message, edits []jsonrpc.Edit) (*post, error) {
	p := &post{written: make(chan struct{}), begun: make(chan struct{}), done: make(chan struct{})}
	if err := m.Spliced(&p.msg, make([]byte, 0, len(m.Frame)+64), edits...); err != nil {
		return nil, fmt.Errorf("the frame to be sent: %w", err)
	}
	p.frame = p.msg.Frame
	p.era = mcpwire.Legacy
	if p.msg.Kind == jsonrpc.Response {
		return p, nil // the modern era has no responses of clients
	}
	if p.msg.Kind == jsonrpc.Request {
		p.id = string(p.msg.Bytes(p.msg.ID))
	}
	p.method = mcpwire.MethodOf(p.msg.Text(p.msg.Method))
	var e mcpwire.Envelope
	e.Read(&p.msg) // the receiver judges an error
	if e.Claims() && p.msg.IsString(e.Version.Value) {
		if version := p.msg.Text(e.Version.Value); httpheader.Visible(version) {
			p.era, p.version = mcpwire.Modern, string(version)
		}
	}
	return p, nil
}

// cancels returns the ID of the request that a notification cancels.
func (p *post) cancels() (id string, ok bool) {
	if p.msg.Kind != jsonrpc.Notification || p.method != mcpwire.Cancelled {
		return "", false
	}
	at, err := mcpwire.IDParam(&p.msg, "requestId")
	return string(p.msg.Bytes(at)), err == nil && at.Present()
}

// idempotent reports whether a request may be sent twice.
func (p *post) idempotent() bool {
	switch p.method {
	case mcpwire.Initialize, mcpwire.Discover, mcpwire.Listen, mcpwire.Ping, mcpwire.ToolsList, mcpwire.PromptsList,
		mcpwire.ResourcesList, mcpwire.TemplatesList, mcpwire.ResourcesRead, mcpwire.PromptsGet, mcpwire.Complete,
		mcpwire.Subscribe, mcpwire.Unsubscribe, mcpwire.SetLevel, mcpwire.TasksGet:
		return p.msg.Kind == jsonrpc.Request
	}
	return false
}

// changesSession reports whether a request changes how a legacy server handles later messages. On a
// pipe, the server would read it before them.
func (p *post) changesSession() bool {
	switch p.method {
	case mcpwire.SetLevel, mcpwire.Subscribe, mcpwire.Unsubscribe:
		return p.era == mcpwire.Legacy
	}
	return false
}

// inSession reports whether a message was sent as part of a session that has an ID.
func (p *post) inSession() bool {
	return p.session.ID != "" && p.era != mcpwire.Modern && p.method != mcpwire.Initialize
}
