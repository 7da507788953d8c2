package httpd

import (
	"encoding/base64"
	"net/http"
	"strings"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/httpbody"
)

// In a cluster, the connection of a client ends when its replica is killed, although the session
// goes on elsewhere. The TypeScript SDKs then wait for the answer to a request until their time is
// over, unless the response has begun with an event that has an ID (2025-11-25, Sending Messages to
// the Server). With it they open a GET stream that has to tell them how the request ends. They do
// so in the modern era, too, which has no GET streams.

// resumePrefix begins the ID of the first event of a response. What follows is the request's ID.
const resumePrefix = "request."

func resumeID(request []byte) string {
	return resumePrefix + base64.RawURLEncoding.EncodeToString(request)
}

// isResumeID reports whether an event's ID is one that responses have.
func isResumeID(id string) bool {
	return id == httpbody.EndID || strings.HasPrefix(id, resumePrefix)
}

// appendFirstEvent appends an event without data.
func appendFirstEvent(dst []byte, id string) []byte {
	return append(httpbody.AppendEventID(dst, id), "data: \n\n"...)
}

// resumable reports whether the client can resume responses. Older clients do not understand events
// without data.
func (s *session) resumable() bool {
	return s.Recorded() && (s.modern || s.negotiated() >= mcpwire.V2025_11_25)
}

// resume continues the response to a request of a session. What was lost of it is not sent again;
// if that was the answer, the client gets an error. s is nil in the modern era, which cancels a
// request with its response: there is only the error.
func (x *exchange) resume(s *session, last string) {
	id, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(last, resumePrefix))
	if last == httpbody.EndID || err != nil {
		x.notAllowed(http.MethodPost, "the response has ended; there is nothing to resume")
		return
	}
	if s != nil {
		if c := s.resume(id); c != nil {
			x.answerFurther(s, c, last)
			return
		}
	}
	text := jsonrpc.AppendError(nil, id, codeInternal, "the connection for the answer to this request is gone, and perhaps the replica of toolman that had the request; it may have been carried out: check before you repeat it", nil)
	var m jsonrpc.Message
	if jsonrpc.Scan(text, &m) != nil || mcpwire.CheckID(&m) != nil {
		x.notAllowed(http.MethodPost, "the header Last-Event-ID does not name a request")
		return
	}
	jsonrpc.OneLine(text) // the ID is what the client says
	o := x.respond(s, nil, false)
	o.write(httpbody.AppendEvent(httpbody.AppendEventID(nil, httpbody.EndID), "message", text)) // fails only if the client has disconnected
}

// resume returns an open request whose response can be continued; nil if there is none.
func (s *session) resume(id []byte) *call {
	c := s.Find(id)
	if c == nil {
		return nil
	}
	if s.Router.AwaitsClient() {
		s.Cancel(c.routerID, c) // the client may not have got the question
		return nil
	}
	if !c.to.resume() {
		return nil
	}
	return c
}

// answerFurther serves the rest of a response.
func (x *exchange) answerFurther(s *session, c *call, last string) {
	x.calls.Add(1)
	o := x.respond(s, c.to, false)
	o.resumeID = last
	o.write(nil) // if it fails, so does serve
	o.serve(func(bool) {
		c.to.abandon()
		x.calls.Add(-1)
	})
}
