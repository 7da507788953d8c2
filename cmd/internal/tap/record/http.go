package record

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"toolman/jsonrpc/trace"
	"toolman/mcpwire/httpheader"
)

// mostSessions limits the sessions over HTTP whose requests are matched with their answers.
const mostSessions = 4 << 10

// HTTP traces a server over HTTP. Headers are not part of the trace.
type HTTP struct {
	r        *Recorder
	sessions map[string]*Conn // owned by the queue's goroutine
}

// HTTP returns what traces a server over HTTP.
func (r *Recorder) HTTP() *HTTP { return &HTTP{r: r, sessions: map[string]*Conn{}} }

// An Exchange is a request over HTTP with its response. Request is a stream for the body of the
// request, and Response for that of the response.
type Exchange struct {
	h    *HTTP
	what string // the method and the path
	code int

	Request, Response *Stream

	// owned by the queue's goroutine
	conn *Conn
	said bool // there was a message
}

// Begin begins an exchange.
func (h *HTTP) Begin(req *http.Request) *Exchange {
	e := &Exchange{h: h, what: req.Method + " " + req.URL.EscapedPath(), conn: h.r.NewConn()}
	e.Request = e.stream(trace.In, &body{missing: req.ContentLength, coding: req.Header.Get("Content-Encoding")})
	e.Response = e.stream(trace.Out, opaque{})
	session := req.Header.Get(httpheader.Session)
	if session == "" {
		session = sessionIn(req.URL)
	}
	h.r.Do(func(time.Time) { e.join(session) })
	return e
}

func (e *Exchange) stream(dir trace.Dir, f framer) *Stream {
	return &Stream{r: e.h.r, framer: f, line: func(at time.Time, l *line) {
		e.said = true
		e.conn.message(dir, at, l)
	}}
}

// sessionIn returns the session of the transport of 2024-11-05, which is part of the URL.
func sessionIn(u *url.URL) string {
	q := u.Query()
	for _, key := range []string{"sessionId", "session_id", "sessionid"} {
		if s := q.Get(key); s != "" {
			return s
		}
	}
	return ""
}

// join makes the exchange one of a session. The first of a session's names it later.
func (e *Exchange) join(session string) {
	if session == "" {
		return
	}
	if c := e.h.sessions[session]; c != nil {
		e.conn = c
		return
	}
	for old := range e.h.sessions {
		if len(e.h.sessions) < mostSessions {
			break
		}
		delete(e.h.sessions, old)
	}
	e.h.sessions[session] = e.conn
}

// Answer says that the head of the response is there.
func (e *Exchange) Answer(resp *http.Response) {
	e.code = resp.StatusCode
	coding, session := resp.Header.Get("Content-Encoding"), resp.Header.Get(httpheader.Session)
	kind, note := httpheader.MediaType(resp.Header), ""
	switch {
	case kind == httpheader.EventStream && (coding == "" || coding == "identity"):
		e.Response.framer = &events{endpoint: e.endpoint}
	case kind == httpheader.JSON && (coding == "" || coding == "identity" || coding == "gzip" || coding == "x-gzip" || coding == "deflate"):
		e.Response.framer = &body{missing: resp.ContentLength, coding: coding}
	case kind == httpheader.EventStream || kind == httpheader.JSON:
		note = ", compressed (" + coding + "): its messages are not in the trace"
	}
	e.h.r.Do(func(at time.Time) {
		e.Request.end(at)
		e.join(session)
		if e.code >= 400 || !e.said || note != "" {
			e.event(at, kind, note)
		}
	})
}

// endpoint notes the session of the transport of 2024-11-05.
func (e *Exchange) endpoint(uri string) {
	if u, err := url.Parse(uri); err == nil {
		e.join(sessionIn(u))
	}
}

// event says what is not in messages.
func (e *Exchange) event(at time.Time, kind, note string) {
	text := []string{e.what, strconv.Itoa(e.code), http.StatusText(e.code), kind}
	e.h.r.w.Event(trace.Event{Event: trace.EventHTTP, Peer: e.h.r.server, At: at, Text: strings.TrimRight(strings.Join(text, " "), " ") + note})
}

// Fail says that there is no response, and why.
func (e *Exchange) Fail(err error) {
	e.h.r.Do(func(at time.Time) {
		e.Request.end(at)
		e.h.r.w.Event(trace.Event{Event: trace.EventHTTP, Peer: e.h.r.server, At: at, Text: e.what + ": " + err.Error()})
	})
}

// End says that the response has ended; before its end, if err is not nil.
func (e *Exchange) End(err error) {
	e.Response.End()
	if err != nil {
		e.h.r.Do(func(at time.Time) { e.event(at, "", ", ended early: "+err.Error()) })
	}
}
