package breakpoint

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"toolman/jsonrpc"
	"toolman/jsonrpc/peer"
	"toolman/jsonrpc/trace"
)

// A held is a message that waits: a copy of it.
type held struct {
	message
	n      uint64
	client *Client
	at     time.Time
	timer  *time.Timer // lets it go on
}

// hold keeps a copy of a message. It returns false if there is no room.
func (d *Debugger) hold(r *rule, m *message) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r.client.gone {
		return false
	}
	if why := d.noRoomLocked(len(m.Frame)); why != "" {
		e := m.event(trace.EventReleased, trace.DonePassed, why)
		e.Rule, e.Taken = r.N, r.Taken
		d.write(&e, 0, nil)
		e.Event = PassedBy
		r.client.notify(e)
		return false
	}
	d.last++
	h := &held{message: *m, n: d.last, client: r.client, at: time.Now()}
	h.Message = &jsonrpc.Message{}
	if jsonrpc.Scan(bytes.Clone(m.Frame), h.Message) != nil {
		return false // impossible: it was scanned before
	}
	h.record.Msg, h.record.ID = nil, nil
	d.held[h.n] = h
	d.bytes += len(h.Frame)
	d.updateLocked()
	name, done, text, time := trace.EventHeld, "", "held", d.o.Hold
	if r.Action == Delay {
		name, done, time = trace.EventFault, trace.DoneDelayed, durationOf(r.MS)
		text = "delayed for " + time.String()
	}
	e := h.event(name, done, text)
	e.Rule, e.Taken = r.N, r.Taken
	h.startLocked(&e, time, r.Action == Delay)
	d.write(&e, 0, nil)
	e.Msg = h.Frame
	h.client.notify(e)
	return true
}

func durationOf(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }

// noRoomLocked says why a message is not held; "": there is room.
func (d *Debugger) noRoomLocked(size int) string {
	switch {
	case size > maxMessage:
		return fmt.Sprintf("not held: it has more than %d bytes", maxMessage)
	case len(d.held) >= d.o.Held:
		return fmt.Sprintf("not held: %d messages are held", d.o.Held)
	case d.bytes+size > d.o.HeldBytes:
		return fmt.Sprintf("not held: the held messages would have more than %d bytes", d.o.HeldBytes)
	}
	return ""
}

// startLocked starts the time after which the message goes on, and adds its end to an event.
func (h *held) startLocked(e *Event, after time.Duration, delay bool) {
	until := time.Now().Add(after)
	e.N, e.At, e.Until = h.n, &h.at, &until
	text := "held for " + after.String() + ", the longest time"
	if delay {
		text = "delayed for " + after.String()
	}
	if h.timer != nil {
		h.timer.Stop()
	}
	h.timer = time.AfterFunc(after, func() {
		for _, h := range h.client.d.takeAll(func(other *held) bool { return other == h }, trace.DonePassed, text) {
			h.pass()
		}
	})
}

// pass lets the message go on.
func (h *held) pass() { h.passAs(h.Message) }

// passAs lets another message go on in the place of h.
func (h *held) passAs(m *jsonrpc.Message) {
	var out peer.Outgoing
	if !h.gate.pass(m, &out) {
		h.gate.side.Drop(m, &out)
	}
	out.Flush()
}

// takeAll takes all matching messages out of the table, in order, and reports what is done to them.
func (d *Debugger) takeAll(match func(*held) bool, done, text string) []*held {
	d.mu.Lock()
	defer d.mu.Unlock()
	var taken []*held
	for _, h := range d.held {
		if match(h) {
			taken = append(taken, h)
		}
	}
	slices.SortFunc(taken, func(a, b *held) int { return int(a.n) - int(b.n) })
	for _, h := range taken {
		d.takeLocked(h, done, text, nil)
	}
	return taken
}

// takeLocked takes a message out of the table. before is as in write.
func (d *Debugger) takeLocked(h *held, done, text string, before []byte) {
	h.timer.Stop()
	delete(d.held, h.n)
	d.bytes -= len(h.Frame)
	d.updateLocked()
	waited := time.Since(h.at)
	e := h.event(trace.EventReleased, done, text)
	e.N, e.HeldMS = h.n, waited.Milliseconds()
	d.write(&e, waited, before)
	h.client.notify(e)
}

// findLocked returns a held message of the client.
func (c *Client) findLocked(n uint64) (*held, error) {
	h := c.d.held[n]
	if h == nil || h.client != c {
		return nil, fmt.Errorf("message %d is not held any more", n)
	}
	return h, nil
}

// find returns a held message of the client, which stays held.
func (c *Client) find(n uint64) (*held, error) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	return c.findLocked(n)
}

// take takes a message out of the table. changed says that another goes on in its place.
func (c *Client) take(n uint64, done, text string, changed bool) (*held, error) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	h, err := c.findLocked(n)
	if err != nil {
		return nil, err
	}
	var before []byte
	if changed {
		before = h.Frame
	}
	c.d.takeLocked(h, done, text, before)
	return h, nil
}

// Release lets a held message go on.
func (c *Client) Release(n uint64) error {
	h, err := c.take(n, trace.DonePassed, "released", false)
	if err == nil {
		h.pass()
	}
	return err
}

// ReleaseAll lets all held messages of the client go on, in the order in which they came.
func (c *Client) ReleaseAll() { c.releaseAll("released") }

func (c *Client) releaseAll(why string) {
	for _, h := range c.d.takeAll(func(h *held) bool { return h.client == c }, trace.DonePassed, why) {
		h.pass()
	}
}

// Edit lets msg go on in place of a held message. It must be a message of the same kind with the
// same ID.
func (c *Client) Edit(n uint64, msg []byte) error {
	h, err := c.find(n)
	if err != nil {
		return err
	}
	var m jsonrpc.Message
	if err := jsonrpc.Scan(bytes.Clone(msg), &m); err != nil {
		return fmt.Errorf("the edited text is no message: %w", err)
	}
	m.OneLine()
	switch {
	case m.Kind != h.Kind:
		return fmt.Errorf("a %s cannot become a %s", h.kind, kinds[m.Kind])
	case m.ID.Present() != h.ID.Present() || !bytes.Equal(m.Bytes(m.ID), h.Bytes(h.ID)):
		return errors.New("the ID of a message cannot change: its answer would belong to no request")
	}
	if h, err = c.take(n, trace.DoneEdited, "edited", true); err == nil {
		h.passAs(&m)
	}
	return err
}

// Answer answers a held request with a result or an error object, so that its receiver never sees
// it. The answer takes the place of a held response.
func (c *Client) Answer(n uint64, result, failure []byte) error {
	h, err := c.find(n)
	if err != nil {
		return err
	}
	if h.kind == trace.Notification {
		return errors.New("a notification has no answer")
	}
	if (result == nil) == (failure == nil) {
		return errors.New("an answer has either a result or an error")
	}
	frame := jsonrpc.AppendResult(nil, h.id(), result)
	if failure != nil {
		frame = jsonrpc.AppendErrorResponse(nil, h.id(), failure)
	}
	var m jsonrpc.Message
	if err := jsonrpc.Scan(frame, &m); err != nil {
		return fmt.Errorf("the answer is no message: %w", err)
	}
	m.OneLine()
	isRequest := h.Kind == jsonrpc.Request
	if h, err = c.take(n, trace.DoneAnswered, "answered", !isRequest); err != nil {
		return err
	}
	if !isRequest {
		h.passAs(&m)
		return nil
	}
	var out peer.Outgoing
	h.gate.side.Answer(h.Message, m.Frame, &out)
	out.Flush()
	return nil
}

// Drop drops a held message.
func (c *Client) Drop(n uint64) error {
	h, err := c.take(n, trace.DoneDropped, "dropped", false)
	if err != nil {
		return err
	}
	var out peer.Outgoing
	h.gate.side.Drop(h.Message, &out)
	out.Flush()
	return nil
}

// Delay lets a held message go on after some milliseconds.
func (c *Client) Delay(n uint64, ms int) error {
	if ms <= 0 || durationOf(ms) > maxDelay {
		return fmt.Errorf("a delay has 1 to %d milliseconds", maxDelay.Milliseconds())
	}
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	h, err := c.findLocked(n)
	if err != nil {
		return err
	}
	e := h.event(trace.EventFault, trace.DoneDelayed, "delayed for "+durationOf(ms).String())
	h.startLocked(&e, durationOf(ms), true)
	c.d.write(&e, 0, nil)
	c.notify(e)
	return nil
}
