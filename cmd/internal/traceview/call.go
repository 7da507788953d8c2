package traceview

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/jsonrpc/trace"
)

const (
	statusPending = "pending"
	statusGone    = "gone" // the server that was asked is gone
	cancelled     = "notifications/cancelled"
)

// A call is a request and its outcome, on both legs. --json prints it as it is; times are in
// microseconds.
type call struct {
	Type    string    `json:"t"` // "call"
	Call    string    `json:"call,omitempty"`
	Time    time.Time `json:"ts"`
	US      int64     `json:"us"`
	From    string    `json:"from"`
	To      string    `json:"to"`
	Method  string    `json:"method"`
	Name    string    `json:"name,omitempty"`
	Target  string    `json:"target,omitempty"` // the name at the peer on the other leg
	Status  string    `json:"status"`
	Code    int       `json:"code,omitempty"`
	Verdict string    `json:"verdict,omitempty"`
	Rule    string    `json:"rule,omitempty"`
	Error   string    `json:"error,omitempty"` // the message of an answer that is an error
	TotalUS int64     `json:"total_us,omitempty"`
	OwnUS   int64     `json:"own_us,omitempty"`
	PeerUS  int64     `json:"peer_us,omitempty"` // the time of the peer on the other leg
	In      int       `json:"in_bytes"`          // bytes into toolman on the first leg
	Out     int       `json:"out_bytes"`

	Frames []json.RawMessage `json:"frames,omitempty"`

	first    *trace.Record   // the request as it was first seen
	other    string          // the peer on the other leg, if the request went there
	answered bool            // by the response that ends it
	reported bool            // it has been printed
	frames   []*trace.Record // all of it, if they are kept
	texts    []bool          // which of the filter's texts it holds
}

func newCall(r *trace.Record, texts int) *call {
	return &call{Type: "call", Call: r.Call, Time: r.Time, US: r.US, Method: r.Method, Name: r.Name,
		Status: statusPending, first: r, texts: make([]bool, texts)}
}

// json returns the call as --json prints it.
func (c *call) json() []byte {
	c.From, c.To, _ = strings.Cut(c.peers(), " -> ")
	for _, r := range c.frames {
		c.Frames = append(c.Frames, r.Line)
	}
	return cli.JSON(c)
}

// byToolman reports whether toolman itself made the request.
func (c *call) byToolman() bool { return c.first.Dir == trace.Out }

// failed reports whether the call failed.
func (c *call) failed() bool {
	return isFailure(c.Status) || c.Status == statusGone || c.Status == trace.StatusLocal && c.Error != ""
}

func isFailure(status string) bool {
	return status == trace.StatusRPCError || status == trace.StatusToolError || status == trace.StatusTimeout
}

// calls assembles calls from frames.
type calls struct {
	open   map[string]*call
	keep   bool // keep the frames
	filter Filter
	done   func(*call) // gets each call that matches the filter when it is over
}

// take takes a record and returns the call to which it belongs, or nil. The start of a session ends
// all calls.
func (cs *calls) take(r *trace.Record) *call {
	switch {
	case r.Type == trace.TypeSession:
		cs.endAll()
	case r.Type != trace.TypeFrame:
		cs.endGone(r)
	default:
		c, over := cs.add(r)
		if over {
			cs.end(c)
		}
		return c
	}
	return nil
}

func (cs *calls) end(c *call) {
	if cs.filter.match(c.subject()) {
		cs.done(c)
	}
	c.reported = true
}

// add takes a frame. It returns the frame's call, or nil if the frame belongs to none, and whether
// the frame ends the call.
func (cs *calls) add(r *trace.Record) (c *call, over bool) {
	key := keyOf(r)
	c = cs.open[key]
	if c != nil && c.isNested(r) {
		cs.count(c, r)
		return c, false
	}
	switch r.Kind {
	case trace.Request:
		c = cs.request(key, c, r)
	case trace.Response:
		if c == nil || c.reported && r.Leg != c.first.Leg { // late
			return nil, false
		}
		if over = c.respond(r); over {
			delete(cs.open, key)
		}
	case trace.Notification:
		if c == nil || r.Call == "" {
			return nil, false
		}
		if r.Method == cancelled && !c.reported {
			c.Status, c.TotalUS = trace.StatusCancelled, r.US-c.US
			over = true
		}
	default:
		return nil, false
	}
	cs.count(c, r)
	return c, over
}

// keyOf identifies a call: by its number, or by its ID, peer and direction.
func keyOf(r *trace.Record) string {
	if r.Call != "" {
		return r.Call
	}
	requested := r.Dir
	if r.Kind == trace.Response {
		requested = map[trace.Dir]trace.Dir{trace.In: trace.Out, trace.Out: trace.In}[r.Dir]
	}
	return fmt.Sprintf("%s\x00%s\x00%s\x00%s", r.Leg, r.Peer, requested, r.ID)
}

// isNested reports whether a frame belongs to a request that the caller itself gets before its
// answer, as legacy clients do for servers of the revision 2026-07-28.
func (c *call) isNested(r *trace.Record) bool {
	opposite := r.Dir != c.first.Dir
	if r.Kind == trace.Response {
		opposite = !opposite
	}
	return opposite && r.Leg == c.first.Leg
}

func (cs *calls) request(key string, c *call, r *trace.Record) *call {
	if c != nil && c.first.Leg != r.Leg {
		c.other, c.Target = r.Peer, r.Name
		return c
	}
	if c != nil { // the ID is in use: keep the earlier call under another key
		cs.open[fmt.Sprintf("%s\x00%d", key, c.first.Seq)] = c
	}
	c = newCall(r, len(cs.filter.texts))
	cs.open[key] = c
	return c
}

// respond takes a response and reports whether it answers the call's first request.
func (c *call) respond(r *trace.Record) bool {
	took := cmp.Or(r.LegUS, r.TotalUS, r.US-c.US)
	c.Verdict, c.Rule = cmp.Or(r.Verdict, c.Verdict), cmp.Or(r.Rule, c.Rule)
	if r.Leg != c.first.Leg {
		c.PeerUS += took
		return false
	}
	c.answered = true
	c.Status, c.Code = cmp.Or(r.Status, trace.StatusOK), r.Code
	c.Error = errorOf(r)
	if c.byToolman() {
		c.TotalUS, c.PeerUS = took, took
		return true
	}
	c.TotalUS = cmp.Or(r.TotalUS, r.US-c.US)
	c.OwnUS = cmp.Or(r.OwnUS, max(0, c.TotalUS-c.PeerUS))
	return true
}

// count adds to the call what all frames have: bytes, and the texts to look for.
func (cs *calls) count(c *call, r *trace.Record) {
	switch {
	case r.Leg != c.first.Leg || r.Kind == trace.Notification:
	case r.Dir == trace.In:
		c.In += r.Bytes
	default:
		c.Out += r.Bytes
	}
	if c.Verdict == "" {
		c.Verdict, c.Rule = r.Verdict, r.Rule
	}
	if cs.keep {
		c.frames = append(c.frames, r)
	}
	for i, found := range cs.filter.find(r) {
		c.texts[i] = c.texts[i] || found
	}
}

// endGone ends, if an event reports that a server is gone, the requests that toolman itself has
// made to it. Requests of clients get answers.
func (cs *calls) endGone(r *trace.Record) {
	if r.Event != trace.EventGone {
		return
	}
	for _, c := range cs.sorted() {
		if c.byToolman() && c.first.Leg == trace.Upstream && c.first.Peer == r.Peer {
			c.Status, c.Error, c.TotalUS = statusGone, r.Text, r.US-c.US
			maps.DeleteFunc(cs.open, func(_ string, open *call) bool { return open == c })
			cs.end(c)
		}
	}
}

// endAll ends all calls.
func (cs *calls) endAll() {
	for _, c := range cs.sorted() {
		if !c.reported {
			cs.end(c)
		}
	}
	clear(cs.open)
}

// sorted returns the open calls in the order they began.
func (cs *calls) sorted() []*call {
	return slices.SortedFunc(maps.Values(cs.open), func(a, b *call) int { return cmp.Compare(a.first.Seq, b.first.Seq) })
}

// errorOf returns the error message of a response. Only the message itself shows whether a response
// of toolman is an error.
func errorOf(r *trace.Record) string {
	if !isFailure(r.Status) && r.Status != trace.StatusLocal {
		return ""
	}
	var m struct {
		Error  struct{ Message string }
		Result struct {
			IsError bool
			Content []struct{ Text string }
		}
	}
	if json.Unmarshal(r.Msg, &m) != nil || !m.Result.IsError || len(m.Result.Content) == 0 {
		return m.Error.Message
	}
	var own struct{ Error string } // in results of toolman's own tools
	text := m.Result.Content[0].Text
	if json.Unmarshal([]byte(text), &own) == nil && own.Error != "" {
		return own.Error
	}
	return text
}
