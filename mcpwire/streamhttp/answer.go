package streamhttp

import (
	"errors"
	"io"
	"net/http"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/httpheader"
	"toolman/mcpwire/sse"
)

const (
	drainTime  = time.Second // a stream may go on behind its answer
	drainBytes = 64 << 10
)

// drain reads what is left of a body, so that its connection can be used again.
func drain(body io.Reader) { io.CopyN(io.Discard, body, drainBytes) }

// read reads the answer to a request that does not come on a stream.
func (c *Conn) read(p *post, resp *http.Response) *failure {
	switch kind := httpheader.MediaType(resp.Header); {
	case kind == httpheader.JSON:
		return c.readBody(p, resp)
	case resp.StatusCode == http.StatusAccepted || resp.StatusCode == http.StatusNoContent:
		return &failure{text: c.where + ": the server accepted the request and gave no answer (" + resp.Status + "); it may have been carried out"}
	default:
		return c.notMCP(resp, kind)
	}
}

// readBody reads an answer that is the whole response.
func (c *Conn) readBody(p *post, resp *http.Response) *failure {
	body, err := c.bodies.Read(io.LimitReader(resp.Body, int64(c.o.FrameLimit)+1), resp.ContentLength)
	defer c.bodies.Put(body)
	switch {
	case len(body) > c.o.FrameLimit:
		return c.tooLong(int64(len(body)))
	case err != nil:
		return c.lost(err)
	}
	var m jsonrpc.Message
	if err := jsonrpc.Scan(body, &m); err != nil {
		return &failure{text: c.where + ": the server's answer is " + err.Error()}
	}
	if m.Kind != jsonrpc.Response || string(m.Bytes(m.ID)) != p.id {
		return &failure{text: c.where + ": the server sent something else than the answer to the request; it may have been carried out"}
	}
	return c.answer(p, &m, resp.Header)
}

// readStream reads a stream until the answer is there, and continues it on another connection
// where the server lets it.
func (c *Conn) readStream(p *post, resp *http.Response) *failure {
	defer resp.Body.Close()
	r := sse.NewReader(resp.Body, c.o.FrameLimit)
	answered, f := c.events(p, r, resp.Header)
	switch {
	case f != nil:
		return f
	case answered:
		defer time.AfterFunc(drainTime, p.cancel).Stop()
		c.finish(p)
		drain(resp.Body)
		return nil
	case p.ctx.Err() != nil:
		return nil
	case p.era == mcpwire.Legacy && r.LastID() != "":
		return c.resume(p, r.LastID(), r.Retry())
	}
	f = c.lost(io.ErrUnexpectedEOF)
	f.reopened = p.opened
	return f
}

// events delivers the messages of a stream until it ends or, with p, has answered p.
func (c *Conn) events(p *post, r *sse.Reader, h http.Header) (answered bool, f *failure) {
	for {
		e, err := r.Next()
		long, tooLong := errors.AsType[*jsonrpc.TooLongError](err)
		switch {
		case tooLong && p != nil:
			return false, c.tooLong(long.Size)
		case tooLong:
			c.in.bad(&jsonrpc.Message{}, long)
		case err != nil:
			return false, nil
		case e.Name != "" && e.Name != "message" || len(e.Data) == 0:
		default:
			if answered, f = c.event(p, e.Data, h); answered || f != nil {
				return answered, f
			}
		}
	}
}

// event delivers one message of a stream.
func (c *Conn) event(p *post, frame []byte, h http.Header) (answered bool, f *failure) {
	var m jsonrpc.Message
	if err := jsonrpc.Scan(frame, &m); err != nil {
		c.in.bad(&m, err)
		return false, nil
	}
	switch {
	case m.Kind == jsonrpc.Response && p != nil && string(m.Bytes(m.ID)) == p.id:
		f = c.answer(p, &m, h)
		return f == nil, f
	case m.Kind == jsonrpc.Response:
		c.elsewhere(&m, h)
	case p != nil && p.method == mcpwire.Listen && string(m.Text(m.Method)) == string(mcpwire.Acknowledged):
		c.acknowledged(p, &m)
	default:
		c.message(&m)
	}
	return false, nil
}

// elsewhere delivers an answer that did not come where its request was sent.
func (c *Conn) elsewhere(m *jsonrpc.Message, h http.Header) {
	c.mu.Lock()
	p := c.open[string(m.Bytes(m.ID))]
	c.mu.Unlock()
	if p == nil {
		c.message(m)
		return
	}
	if f := c.answer(p, m, h); f != nil {
		c.fail(p, f)
	}
	c.finish(p)
	p.cancel()
}

// answer delivers the answer to a request.
func (c *Conn) answer(p *post, m *jsonrpc.Message, h http.Header) *failure {
	if m.Err.Present() {
		if f := refusal(m); f.code == mcpwire.CodeHeaderMismatch && !p.relisted {
			return f
		}
	} else if f := c.note(p, m, h); f != nil {
		return f
	}
	if !c.take(p) {
		return nil
	}
	if p.own != nil {
		p.own(m)
		return nil
	}
	if p.method == mcpwire.ToolsList && p.era == mcpwire.Modern && m.Result.Present() {
		c.tools(m)
		return nil
	}
	c.message(m)
	return nil
}

// tools delivers a list of tools, without those that must not be used over HTTP.
func (c *Conn) tools(m *jsonrpc.Message) {
	edits, wrong := c.params.learn(m)
	for _, err := range wrong {
		c.o.Log(err.Error())
	}
	if edits != nil {
		c.frame(jsonrpc.AppendSplice(nil, m.Frame, edits...))
		return
	}
	c.message(m)
}

// fail answers a request in the server's place.
func (c *Conn) fail(p *post, f *failure) {
	if !c.take(p) {
		return
	}
	if f.rpc != nil {
		c.frame(jsonrpc.AppendErrorResponse(nil, []byte(p.id), f.rpc))
		return
	}
	c.frame(mcpwire.AppendFailureFor(p.era, nil, []byte(p.id), p.method, jsonrpc.CodeInternalError, f.text))
}
