package bridge

import (
	"bytes"
	"net/http"
	"time"

	"toolman/mcpwire/sse"
)

// keepAlive is the time between events, so that no proxy on the way takes the stream for dead.
const keepAlive = 20 * time.Second

// stream answers with events: progress, and at last result or error. An error before any
// progress is answered as ever, with its status. It returns false when the client is gone.
func (b *Bridge) stream(w http.ResponseWriter, r *http.Request, c *call) bool {
	s := &events{w, sse.NewWriter(w, "no-store")}
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for {
		var err error
		select {
		case params := <-c.progress:
			err = s.progress(c, params)
		case <-tick.C:
			err = s.out.Write([]byte(sse.KeepAlive))
		case <-c.done:
			return s.end(c)
		case <-r.Context().Done():
			if f := gone(r.Context()); s.out.Begun() {
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
	w   http.ResponseWriter
	out sse.Writer
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
	case !s.out.Begun():
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
	return s.out.Write(sse.Append(nil, event, bytes.TrimSuffix(data, []byte{'\n'})))
}
