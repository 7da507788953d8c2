package calls

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/jsonrpc/trace"
	"toolman/jsonrpc/trace/filter"
)

// Toolman is toolman itself as a peer.
const Toolman = "toolman"

const cancelled = "notifications/cancelled"

// A call is a request and its outcome, on both legs. --json prints it as it is; times are in
// microseconds.
type Call struct {
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

	First    *trace.Record   `json:"-"` // the request as it was first seen
	Answered bool            `json:"-"` // by the response that ends it
	Records  []*trace.Record `json:"-"` // all frames of it, if they are kept
	other    string          // the peer on the other leg, if the request went there
	passed   int64           // when the request went there, as US
	tapped   string          // the server, if the trace is of a tap
	reported bool            // done has got it
	texts    []bool          // which of the filter's texts it holds
	traits   filter.Traits
	ids      []string // of its requests
}

// JSON returns the call with its frames as a line of JSON.
func (c *Call) JSON() []byte {
	c.From, c.To = c.Peers()
	for _, r := range c.Records {
		c.Frames = append(c.Frames, r.Line)
	}
	return cli.JSON(c)
}

// Peers returns the caller and the peer that was called: toolman itself only if there is no other.
func (c *Call) Peers() (from, to string) {
	self := cmp.Or(c.tapped, Toolman)
	from, to = c.First.Peer, c.other
	if c.ByToolman() {
		from, to = self, c.First.Peer
	}
	return from, cmp.Or(to, self)
}

// Tapped reports whether the trace is of a tap, which has no part in the call.
func (c *Call) Tapped() bool { return c.tapped != "" }

// ByToolman reports whether toolman itself made the request, or the server of a tap.
func (c *Call) ByToolman() bool { return c.First.Dir == trace.Out }

// Late reports whether the call was over before, for example cancelled: its answer came late.
func (c *Call) Late() bool { return c.reported }

// Failed reports whether the call failed.
func (c *Call) Failed() bool {
	return trace.IsFailure(c.Status) || c.Status == trace.StatusGone ||
		c.Status == trace.StatusLocal && (c.Code != 0 || c.Error != "")
}

// ParseFilter parses filters, one in each argument. Its error says where the filters are listed.
func ParseFilter(args []string) (filter.Filter, error) {
	f, err := filter.Parse(args)
	if err != nil {
		err = cli.Usage(err, "toolman trace --help lists the filters")
	}
	return f, err
}

// An Assembler assembles calls from the records of a trace. It is not safe for concurrent use.
type Assembler struct {
	open   map[string]*Call
	keep   bool
	filter filter.Filter
	done   func(*Call)
	tapped string                   // the server of the current session, if that is a tap's
	held   map[string]filter.Traits // of messages that have not gone on, by leg, peer and ID
}

// NewAssembler returns an Assembler that gives each call that matches the filter to done when it is
// over, and again if it is answered after that, which Call.Late tells. If keep is true, calls have
// their Records.
func NewAssembler(filter filter.Filter, keep bool, done func(*Call)) *Assembler {
	return &Assembler{open: make(map[string]*Call), keep: keep, filter: filter, done: done}
}

// Take takes a record and returns the call to which it belongs, or nil. The start of a session ends
// all calls.
func (a *Assembler) Take(r *trace.Record) *Call {
	switch {
	case r.Type == trace.TypeSession:
		a.EndAll()
		if r.Session != nil {
			a.tapped = r.Session.Tap
		}
	case r.Type != trace.TypeFrame:
		a.noteHeld(r)
		a.endGone(r)
	default:
		c, over := a.add(r)
		if over {
			a.end(c)
		}
		return c
	}
	return nil
}

func (a *Assembler) end(c *Call) {
	if a.filter.Match(c.subject()) {
		a.done(c)
	}
	c.reported = true
}

// add takes a frame. It returns the frame's call, or nil if the frame belongs to none, and whether
// the frame ends the call.
func (a *Assembler) add(r *trace.Record) (c *Call, over bool) {
	key := keyOf(r)
	c = a.open[key]
	if c != nil && c.isNested(r) {
		a.count(c, r)
		return c, false
	}
	switch r.Kind {
	case trace.Request:
		c = a.request(key, c, r)
	case trace.Response:
		if c == nil || c.reported && r.Leg != c.First.Leg { // late
			return nil, false
		}
		if over = c.respond(r); over {
			delete(a.open, key)
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
	a.count(c, r)
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
func (c *Call) isNested(r *trace.Record) bool {
	opposite := r.Dir != c.First.Dir
	if r.Kind == trace.Response {
		opposite = !opposite
	}
	return opposite && r.Leg == c.First.Leg
}

func (a *Assembler) request(key string, c *Call, r *trace.Record) *Call {
	if c != nil && c.First.Leg != r.Leg {
		c.other, c.Target, c.passed = r.Peer, r.Name, r.US
		return c
	}
	if c != nil { // the ID is in use: keep the earlier call under another key
		a.open[fmt.Sprintf("%s\x00%d", key, c.First.Seq)] = c
	}
	c = &Call{Type: "call", Call: r.Call, Time: r.Time, US: r.US, Method: r.Method, Name: r.Name,
		Status: trace.StatusPending, First: r, tapped: a.tapped, texts: make([]bool, a.filter.Texts())}
	a.open[key] = c
	return c
}

// respond takes a response and reports whether it answers the call's first request.
func (c *Call) respond(r *trace.Record) bool {
	took := cmp.Or(r.LegUS, r.TotalUS, r.US-c.US)
	c.Verdict, c.Rule = cmp.Or(r.Verdict, c.Verdict), cmp.Or(r.Rule, c.Rule)
	if r.Leg != c.First.Leg {
		if c.First.Leg == trace.Upstream && c.passed > 0 {
			took = r.US - c.passed // the client's time, from when it was asked
		}
		c.PeerUS += took
		return false
	}
	c.Answered = true
	c.Status, c.Code = cmp.Or(r.Status, trace.StatusOK), r.Code
	c.Error = r.Problem()
	if c.ByToolman() {
		c.TotalUS, c.PeerUS = took, took
		return true
	}
	c.TotalUS = cmp.Or(r.TotalUS, r.US-c.US)
	switch rest := max(0, c.TotalUS-c.PeerUS); {
	case c.Tapped(): // all of it is the server's
		c.PeerUS = c.TotalUS
	case c.First.Leg == trace.Upstream: // older traces count the client's time as toolman's own
		c.OwnUS = rest
	default:
		c.OwnUS = cmp.Or(r.OwnUS, rest)
	}
	return true
}

// count adds to the call what all frames have: bytes, and the texts to look for.
func (a *Assembler) count(c *Call, r *trace.Record) {
	switch {
	case r.Leg != c.First.Leg || r.Kind == trace.Notification:
	case r.Dir == trace.In:
		c.In += r.Bytes
	default:
		c.Out += r.Bytes
	}
	if c.Verdict == "" {
		c.Verdict, c.Rule = r.Verdict, r.Rule
	}
	if a.keep {
		c.Records = append(c.Records, r)
	}
	c.traits |= filter.TraitsOf(r)
	if len(a.held) > 0 {
		c.traits |= a.held[messageKey(r)]
		delete(a.held, messageKey(r))
	}
	if r.Kind == trace.Request {
		c.ids = append(c.ids, string(r.ID))
	}
	for i, found := range a.filter.Find(r) {
		c.texts[i] = c.texts[i] || found
	}
}

// maxHeld is how many messages that a debugger has held are remembered until they go on.
const maxHeld = 1000

// noteHeld notes what a debugger has done to a message, whose frame follows.
func (a *Assembler) noteHeld(r *trace.Record) {
	if r.Event != trace.EventHeld && r.Event != trace.EventReleased && r.Event != trace.EventFault || r.ID == nil {
		return
	}
	if a.held == nil || len(a.held) > maxHeld {
		a.held = make(map[string]filter.Traits)
	}
	a.held[messageKey(r)] |= filter.HeldOf(r)
}

func messageKey(r *trace.Record) string { return fmt.Sprintf("%s\x00%s\x00%s", r.Leg, r.Peer, r.ID) }

// endGone ends, if an event reports that a server is gone, the requests that toolman itself has
// made to it. Requests of clients get answers. At the end of the server of a tap, all are over.
func (a *Assembler) endGone(r *trace.Record) {
	if r.Event != trace.EventGone && r.Event != trace.EventExit {
		return
	}
	for _, c := range a.sorted() {
		if r.Event == trace.EventExit && !c.reported || c.ByToolman() && c.First.Leg == trace.Upstream && c.First.Peer == r.Peer {
			c.Status, c.Error, c.TotalUS = trace.StatusGone, r.Text, r.US-c.US
			maps.DeleteFunc(a.open, func(_ string, open *Call) bool { return open == c })
			a.end(c)
		}
	}
}

// Self returns the name of what the clients of the current session talk to: toolman, or the server
// of a tap.
func (a *Assembler) Self() string { return cmp.Or(a.tapped, Toolman) }

// EndAll ends all calls.
func (a *Assembler) EndAll() {
	for _, c := range a.sorted() {
		if !c.reported {
			a.end(c)
		}
	}
	clear(a.open)
}

// sorted returns the open calls in the order they began.
func (a *Assembler) sorted() []*Call {
	return slices.SortedFunc(maps.Values(a.open), func(a, b *Call) int { return cmp.Compare(a.First.Seq, b.First.Seq) })
}

// subject returns a call as a subject.
func (c *Call) subject() *filter.Subject {
	peers := []string{c.First.Peer, c.other}
	if c.ByToolman() {
		peers = append(peers, Toolman)
	}
	traits := c.traits | filter.Call
	if c.Late() {
		traits = traits.Late()
	}
	return &filter.Subject{
		Peers: peers, Methods: []string{c.First.Method}, Names: []string{c.First.Name, c.Target},
		IDs: c.ids, Traits: traits, Run: c.First.Run,
		Call: c.First.Call, Status: c.Status, Code: c.Code, Failed: c.Failed(),
		Bytes: c.In + c.Out, Dur: time.Duration(c.TotalUS) * time.Microsecond,
		Texts: c.texts,
	}
}
