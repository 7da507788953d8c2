package bridge

import (
	"mime"
	"net/http"
	"strings"
	"time"
)

// keepAlive is the time between events, so that no proxy on the way takes the stream for dead.
const keepAlive = 20 * time.Second

// acceptsEvents reports whether a client asks for progress.
func acceptsEvents(r *http.Request) bool {
	for _, line := range r.Header.Values("Accept") {
		for one := range strings.SplitSeq(line, ",") {
			if kind, params, err := mime.ParseMediaType(one); err == nil && kind == "text/event-stream" && params["q"] != "0" {
				return true
			}
		}
	}
	return false
}

// stream answers with events: progress, and at last result or error. An error before any
// progress is answered as ever, with its status. It returns false when the client is gone.
func (b *Bridge) stream(w http.ResponseWriter, r *http.Request, c *call) bool {
	s := &events{w: w, c: http.NewResponseController(w)}
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for {
		var err error
		select {
		case params := <-c.progress:
			err = s.progress(c, params)
		case <-tick.C:
			err = s.comment()
		case <-c.done:
			return s.end(c)
		case <-r.Context().Done():
			if f := gone(r.Context()); s.begun {
				s.fail(c, f) // fails where the client is gone
			} else if expired(r.Context()) {
				writeFailure(w, f, c.ask.correlation)
			}
			return false
		}
		if err != nil {
			return false
		}
	}
}

// events write an answer that is a stream of events.
type events struct {
	w     http.ResponseWriter
	c     *http.ResponseController
	begun bool
}

// end sends what is left of progress and the answer.
func (s *events) end(c *call) bool {
	for len(c.progress) > 0 {
		if s.progress(c, <-c.progress) != nil {
			return false
		}
	}
	f := c.outcome()
	switch {
	case f == nil:
		return s.result(c) == nil
	case !s.begun:
		writeFailure(s.w, f, c.ask.correlation)
		return true
	}
	return s.fail(c, f) == nil
}

func (s *events) fail(c *call, f *Failure) error {
	text, err := encode(failed{f, c.ask.correlation})
	if err != nil {
		return err
	}
	return s.send("error", text)
}

func (s *events) result(c *call) error {
	text := c.answered()
	if err := c.ask.kept.Take(len(text)); err != nil {
		if text, err = encode(failed{limited(err), c.ask.correlation}); err != nil {
			return err
		}
		return s.send("error", text)
	}
	return s.send("result", text)
}

func (s *events) progress(c *call, params []byte) error {
	defer c.ask.kept.Give(len(params))
	return s.send("progress", params)
}

func (s *events) send(event string, data []byte) error {
	text := append([]byte("event: "+event+"\ndata: "), strings.TrimSuffix(string(data), "\n")...)
	return s.write(append(text, "\n\n"...))
}

func (s *events) comment() error { return s.write([]byte(": \n\n")) }

func (s *events) write(text []byte) error {
	if !s.begun {
		s.begun = true
		h := s.w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Accel-Buffering", "no")
	}
	s.c.SetWriteDeadline(time.Now().Add(writeTime + time.Duration(len(text))*time.Second/writeRate)) // fails only without a connection
	if _, err := s.w.Write(text); err != nil {
		return err
	}
	return s.c.Flush()
}
