package streamhttp

import (
	"context"
	"fmt"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/httpheader"
)

// A post is one message on its way to the server. Each is a POST of its own.
type post struct {
	frame   []byte
	msg     jsonrpc.Message // of frame
	id      string          // a request's, as a JSON token
	method  mcpwire.Method
	era     mcpwire.Era
	version string // that a modern message claims

	ctx    context.Context // ends when it is cancelled, or nobody waits for its answer
	cancel context.CancelFunc
	after  []<-chan struct{} // closed when what has to be there before it is

	cancelled *post           // the open request that it cancels; nil: it cancels none
	reacted   <-chan struct{} // closed when the server has reacted to that request

	written   milestone // its bytes have gone out
	writtenAt time.Time // set before written is passed, and not after
	begun     milestone // there is a response
	done      milestone // the server has it, and has answered it if it is a request

	over bool                   // guarded by Conn.mu: it is answered or cancelled
	own  func(*jsonrpc.Message) // gets the answer instead of the handler; nil: it is somebody else's

	// owned by the goroutine that sends it
	slot     bool    // it counts among those under way
	tries    int     // that have failed
	session  session // that it was sent in
	renewed  bool    // once more with a new credential
	revived  bool    // once more in a new session
	relisted bool    // once more with the headers of a new list
	opened   bool    // of a subscription: it has been acknowledged
}

// newPost copies a message with edits applied, and finds out what it is.
func newPost(m *jsonrpc.Message, edits []jsonrpc.Edit) (*post, error) {
	p := new(post)
	if err := m.Spliced(&p.msg, make([]byte, 0, len(m.Frame)+64), edits...); err != nil {
		return nil, fmt.Errorf("what is to be sent: %w", err)
	}
	p.frame = p.msg.Frame
	p.era = mcpwire.Legacy
	if p.msg.Kind == jsonrpc.Response {
		return p, nil // the modern era has none
	}
	if p.msg.Kind == jsonrpc.Request {
		p.id = string(p.msg.Bytes(p.msg.ID))
	}
	p.method = mcpwire.MethodOf(p.msg.Text(p.msg.Method))
	if e, _ := mcpwire.EnvelopeOf(&p.msg); e.Claims() && p.msg.IsString(e.Version.Value) {
		if version := p.msg.Text(e.Version.Value); httpheader.Visible(version) {
			p.era, p.version = mcpwire.Modern, string(version)
		}
	}
	return p, nil
}

// cancels returns the id of the request that a notification takes back.
func (p *post) cancels() (id string, ok bool) {
	if p.msg.Kind != jsonrpc.Notification || p.method != mcpwire.Cancelled {
		return "", false
	}
	at, err := mcpwire.IDParam(&p.msg, "requestId")
	return string(p.msg.Bytes(at)), err == nil && at.Present()
}

// safe reports whether nothing changes when the server sees the message twice.
func (p *post) safe() bool {
	switch p.method {
	case mcpwire.Initialize, mcpwire.Discover, mcpwire.Listen, mcpwire.Ping, mcpwire.ToolsList, mcpwire.PromptsList,
		mcpwire.ResourcesList, mcpwire.TemplatesList, mcpwire.ResourcesRead, mcpwire.PromptsGet, mcpwire.Complete,
		mcpwire.Subscribe, mcpwire.Unsubscribe, mcpwire.SetLevel, mcpwire.TasksGet:
		return p.msg.Kind == jsonrpc.Request
	}
	return false
}

// changesSession reports whether what a legacy server does with later messages depends on
// this one. On a pipe it comes before them.
func (p *post) changesSession() bool {
	switch p.method {
	case mcpwire.SetLevel, mcpwire.Subscribe, mcpwire.Unsubscribe:
		return p.era == mcpwire.Legacy
	}
	return false
}
