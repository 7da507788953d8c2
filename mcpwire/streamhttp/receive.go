package streamhttp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/httpbody"
	"toolman/mcpwire/httpclient"
	"toolman/mcpwire/httpheader"
	"toolman/mcpwire/streamhttp/internal/endpoint"
)

// drainTime is how long a stream may continue after the answer. Then its connection is closed.
const drainTime = time.Second

// read reads the response to a request.
func (c *Conn) read(p *post, resp *http.Response) *endpoint.Failure {
	switch kind := httpheader.MediaType(resp.Header); {
	case kind == httpheader.EventStream:
		return c.readStream(p, resp)
	case kind == httpheader.JSON:
		return c.readBody(p, resp)
	case resp.StatusCode == http.StatusAccepted || resp.StatusCode == http.StatusNoContent:
		return &endpoint.Failure{Text: "the server accepted the request but sent no response (" + resp.Status + "); it may have executed the request"}
	}
	return endpoint.NotMCP(resp)
}

// readBody reads a response that is the whole body.
func (c *Conn) readBody(p *post, resp *http.Response) *endpoint.Failure {
	body, err := c.bodies.Read(io.LimitReader(resp.Body, int64(c.o.FrameLimit)+1), resp.ContentLength)
	defer c.bodies.Put(body)
	switch {
	case len(body) > c.o.FrameLimit:
		return c.tooLong(int64(len(body)))
	case err != nil:
		return endpoint.Lost(err)
	}
	var m jsonrpc.Message
	if err := jsonrpc.Scan(body, &m); err != nil {
		return &endpoint.Failure{Text: "the server's answer is " + err.Error()}
	}
	if m.Kind != jsonrpc.Response || string(m.Bytes(m.ID)) != p.id {
		return &endpoint.Failure{Text: "the server sent something other than the response to the request; it may have executed the request"}
	}
	return c.answer(p, &m, resp.Header)
}

// readStream reads a stream until the response has come. If the stream breaks off, readStream
// continues it on another connection, provided that the server supports this.
func (c *Conn) readStream(p *post, resp *http.Response) *endpoint.Failure {
	r := httpbody.NewEventReader(resp.Body, c.o.FrameLimit)
	answered, f := c.events(p, r, resp.Header)
	switch {
	case f != nil:
		return f
	case answered:
		defer time.AfterFunc(drainTime, p.cancel).Stop()
		c.finish(p)
		httpclient.Drain(resp.Body)
		return nil
	case p.ctx.Err() != nil:
		return nil
	case p.era == mcpwire.Legacy && r.LastID() != "":
		return c.resume(p, position{r.LastID(), r.Retry()})
	}
	f = endpoint.Lost(io.ErrUnexpectedEOF)
	f.Reopened = p.acknowledged
	return f
}

// events delivers the messages of a stream until it ends. If p is not nil, it also stops after the
// response to p.
func (c *Conn) events(p *post, r *httpbody.EventReader, h http.Header) (answered bool, f *endpoint.Failure) {
	for {
		e, err := r.Next()
		long, isLong := errors.AsType[*jsonrpc.TooLongError](err)
		switch {
		case isLong && p != nil:
			return false, c.tooLong(long.Size)
		case isLong:
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
func (c *Conn) event(p *post, frame []byte, h http.Header) (answered bool, f *endpoint.Failure) {
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
		c.answerOnOtherStream(&m, h)
	case p != nil && p.method == mcpwire.Listen && string(m.Text(m.Method)) == string(mcpwire.Acknowledged):
		c.acknowledge(p, &m)
	default:
		c.in.message(&m)
	}
	return false, nil
}

// acknowledge delivers the first notification of a subscription. If the subscription was open
// before, the handler gets the notifications that it may have missed instead.
func (c *Conn) acknowledge(p *post, m *jsonrpc.Message) {
	if p.acknowledged {
		c.in.frames(missedBy(p)...)
		return
	}
	p.acknowledged = true
	c.in.message(m)
}

// answerOnOtherStream delivers a response that did not come in the HTTP response to its request.
func (c *Conn) answerOnOtherStream(m *jsonrpc.Message, h http.Header) {
	c.mu.Lock()
	p := c.out.open[string(m.Bytes(m.ID))]
	c.mu.Unlock()
	if p == nil {
		c.in.message(m)
		return
	}
	if f := c.answer(p, m, h); f != nil {
		c.fail(p, f)
	}
	c.finish(p)
	p.cancel()
}

// answer delivers the response to a request.
func (c *Conn) answer(p *post, m *jsonrpc.Message, h http.Header) *endpoint.Failure {
	if m.Err.Present() {
		if f := endpoint.RPCFailure(m); f.Code == mcpwire.CodeHeaderMismatch && !p.relisted {
			return f
		}
	} else if p.era == mcpwire.Legacy {
		if f := c.recordResult(p, m, h); f != nil {
			return f
		}
	}
	switch {
	case !c.take(p):
	case p.own:
		p.answer = new(jsonrpc.Message)
		jsonrpc.Scan(bytes.Clone(m.Frame), p.answer) // cannot fail
	case p.method == mcpwire.ToolsList && p.era == mcpwire.Modern && m.Result.Present():
		c.listed(m)
	default:
		c.in.message(m)
	}
	return nil
}

// fail responds to a request in place of the server.
func (c *Conn) fail(p *post, f *endpoint.Failure) {
	switch {
	case !c.take(p):
	case f.RPC != nil:
		c.in.frames(jsonrpc.AppendErrorResponse(nil, []byte(p.id), f.RPC))
	default:
		c.in.frames(mcpwire.AppendFailure(p.era, nil, []byte(p.id), p.method, jsonrpc.CodeInternalError, c.explain(f)))
	}
}

func (c *Conn) tooLong(size int64) *endpoint.Failure {
	return &endpoint.Failure{Text: fmt.Sprintf("the answer is longer than %d bytes (at least %d); raise max_message_bytes if messages of that size are right",
		c.o.FrameLimit, size)}
}

const maxPages = 100 // of a list

// listed delivers a list of tools, without those that a client must not use over HTTP.
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

// relist reads the list of tools again because the headers of a call did not match. It reports
// whether to try the call again (2026-07-28, Custom Headers from Tool Parameters).
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
