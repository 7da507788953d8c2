package httpd

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/httpbody"
	"toolman/router/budget"
	"toolman/router/httpd/presence"
)

// largeAnswer is the size from which on an answer may not fit into the buffers of the system while
// the client does not read.
const largeAnswer = 64 << 10

// statusClientGone is the status in the access log of requests whose client has disconnected. Other
// servers use it, too.
const statusClientGone = 499

// A response writes a stream to a client: as JSON if one answer is all there is, as a stream of
// events otherwise.
type response struct {
	*exchange
	httpbody.EventWriter // begun if the response is a stream of events
	s                    *session
	t                    *stream
	hijackable           bool   // a stream of events can continue without its handler
	resumeID             string // ID of a first event with which the client can resume the stream; "": it cannot
	buf                  []byte
}

// An outcome tells how a response ended.
type outcome uint8

const (
	running  outcome = iota
	complete         // everything was written
	broken           // the client has disconnected or does not read
)

// respond makes the response that writes a stream. One that stays open while nothing is sent
// leaves its handler where it can: a connection of HTTP/2 does not belong to one response.
func (x *exchange) respond(s *session, t *stream, staysOpen bool) *response {
	return &response{exchange: x, s: s, t: t, EventWriter: httpbody.NewEventWriter(x.w, "no-cache, no-transform"),
		hijackable: staysOpen && x.r.ProtoMajor == 1 && x.r.ProtoAtLeast(1, 1)}
}

// serve writes the stream until it has ended, or continues without the handler. done is called
// when nothing more is written.
func (o *response) serve(done func(complete bool)) {
	keepAlive := time.NewTimer(o.o.KeepAlive)
	defer keepAlive.Stop()
	end, ctx := running, o.r.Context()
	for end == running {
		if o.Begun() && o.hijackable {
			if o.hijack(done) {
				return
			}
			o.hijackable = false
		}
		select {
		case <-o.t.wake:
			end = o.next()
		case <-keepAlive.C:
			end = o.write([]byte(httpbody.KeepAlive))
		case <-ctx.Done():
			end = o.clientGone(ctx)
		}
		keepAlive.Reset(o.o.KeepAlive)
	}
	done(end == complete)
}

// next writes what waits in the stream.
func (o *response) next() outcome {
	p := o.t.take()
	defer o.t.written(p)
	o.s.SaveChanges()
	switch {
	case p.overflowed:
		return broken
	case p.isAnswer() && !o.Begun():
		return o.writeJSON(p.status, p.frames[0])
	}
	o.buf = o.appendEvents(o.buf[:0], &p)
	if end := o.write(o.buf); end == broken || !p.ended {
		return end
	}
	return complete
}

// writeJSON writes an answer that is the whole response.
func (o *response) writeJSON(status int, answer []byte) outcome {
	defer o.bodies.Put(answer)
	if len(answer) < largeAnswer {
		writeAnswer(o.w, status, answer)
		return complete
	}
	o.SetWriteDeadline(httpbody.WriteDeadline(len(answer)))
	defer o.SetWriteDeadline(time.Time{})
	writeAnswer(o.w, status, answer)
	if o.Flush() != nil {
		return broken
	}
	return complete
}

// write writes events. The response becomes a stream of events, if it is none yet.
func (o *response) write(events []byte) outcome {
	if !o.Begun() && o.hijackable {
		o.w.Header().Set("Connection", "close")
	}
	if !o.Begun() && o.resumeID != "" {
		events = append(appendFirstEvent(nil, o.resumeID), events...)
	}
	if o.Write(events) != nil {
		return broken
	}
	return running
}

// clientGone ends a response whose client has disconnected, or whose credential has expired.
func (o *response) clientGone(ctx context.Context) outcome {
	switch {
	case o.Begun():
	case ctx.Err() == context.DeadlineExceeded:
		o.refuse(http.StatusUnauthorized, nil, codeInvalidRequest, context.Cause(ctx).Error())
	default:
		o.w.WriteHeader(statusClientGone) // net/http would log a success
	}
	return broken
}

// appendEvents appends what a portion contains.
func (o *response) appendEvents(dst []byte, p *portion) []byte {
	if o.resumeID == "" || !p.ended || len(p.frames) == 0 {
		return appendEvents(dst, p.frames)
	}
	last := len(p.frames) - 1
	dst = httpbody.AppendEventID(appendEvents(dst, p.frames[:last]), httpbody.EndID)
	return appendEvents(dst, p.frames[last:])
}

func appendEvents(dst []byte, frames [][]byte) []byte {
	for _, frame := range frames {
		jsonrpc.OneLine(frame)
		dst = httpbody.AppendEvent(dst, "message", frame)
	}
	return dst
}

// Error codes of the endpoint's own answers. The code of an unknown session is that of the SDKs:
// their servers send -32001 with the 404 that the specification requires.
const (
	codeInvalidRequest = jsonrpc.CodeInvalidRequest
	codeInternal       = jsonrpc.CodeInternalError
	codeNoSession      = -32001
)

// refuse answers with a JSON-RPC error. A nil id is left out: MCP's schema has no null there.
func (x *exchange) refuse(status int, id []byte, code int64, why string) {
	x.refuseWith(status, id, &mcpwire.Refusal{Code: code, Message: why})
}

// refuseWith is refuse for an error with data.
func (x *exchange) refuseWith(status int, id []byte, e *mcpwire.Refusal) {
	text := jsonrpc.AppendError(nil, id, e.Code, e.Message, e.Data)
	if id == nil {
		text = bytes.Replace(text, []byte(`"id":null,`), nil, 1)
	}
	writeAnswer(x.w, status, text)
}

// writeAnswer writes a JSON response.
func writeAnswer(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(body) // fails only when the client is gone
}

// notAllowed answers a request of an HTTP method that is not supported.
func (x *exchange) notAllowed(allow, why string) {
	x.w.Header().Set("Allow", allow)
	x.refuse(http.StatusMethodNotAllowed, nil, codeInvalidRequest, why)
}

// reject answers a request that is not accepted because of a limit, the end of its session, or a
// wrong ID.
func (x *exchange) reject(id []byte, err error) {
	status, code := http.StatusBadRequest, int64(jsonrpc.CodeInvalidParams)
	if _, limit := errors.AsType[*budget.LimitError](err); limit {
		status, code = http.StatusTooManyRequests, codeInternal
	} else if err == presence.ErrRevoked {
		status, code = http.StatusUnauthorized, codeInvalidRequest
	} else if err == presence.ErrFull || err == presence.ErrEnded || err == presence.ErrMoved || err == presence.ErrUnavailable {
		status, code = http.StatusServiceUnavailable, codeInternal
	}
	if code == codeInternal {
		x.w.Header().Set("Retry-After", strconv.Itoa(budget.RetryAfter))
	}
	x.refuse(status, id, code, err.Error())
}
