package trace

import "time"

// Leg says on which side of toolman a frame travelled.
type Leg string

// The legs of a call.
const (
	Client   Leg = "client"   // between an MCP client and toolman
	Upstream Leg = "upstream" // between toolman and an upstream server
)

// Dir is a frame's direction, seen from toolman.
type Dir string

// The directions.
const (
	In  Dir = "in"  // a peer sent it to toolman
	Out Dir = "out" // toolman sent it to a peer
)

// Kind is a frame's place in JSON-RPC.
type Kind string

// The kinds of frame.
const (
	Request      Kind = "request"
	Response     Kind = "response"
	Notification Kind = "notification"
	Invalid      Kind = "invalid" // not JSON, or not JSON-RPC
)

// The words of a response's status.
const (
	StatusOK        = "ok"
	StatusRPCError  = "rpc_error"  // a JSON-RPC error
	StatusToolError = "tool_error" // a tool result with isError
	StatusCancelled = "cancelled"
	StatusTimeout   = "timeout"
	StatusLate      = "late"   // the answer to a call that is over
	StatusOrphan    = "orphan" // the answer to no call
	StatusLocal     = "local"  // toolman answered by itself
)

// The names of events.
const (
	EventSpawn       = "spawn"
	EventReady       = "ready"
	EventExit        = "exit"
	EventGone        = "gone"
	EventStderr      = "stderr"
	EventJunk        = "junk" // a line on an upstream's stdout that is not a message
	EventActivate    = "activate"
	EventListChanged = "list_changed"
	EventSettle      = "settle"
	EventDrop        = "drop" // lines of this trace that were lost
	EventShutdown    = "shutdown"
)

// A Frame describes one frame on one leg. The byte slices are borrowed for the call of Writer.Frame only.
type Frame struct {
	Leg          Leg
	Peer         string // the client's or the upstream's name
	Dir          Dir
	Kind         Kind
	Method, Name string // of a response: its request's; Name is the tool, prompt or URI as this leg spells it
	ID           []byte // the JSON token as on this leg; nil: none
	Call         uint64 // correlation number, the same on all frames of a call; 0: none
	Status       string // of a response: one of the Status words
	Code         int    // the JSON-RPC error code when Status is rpc_error

	LegTime   time.Duration // of an upstream's response: how long the upstream took
	TotalTime time.Duration // of the response that ends a call: from its request's arrival
	OwnTime   time.Duration // the part of TotalTime that toolman took; 0 or less is not written, as with the other two

	Rewrote       []string // JSON paths, not to be changed later, that differ from the other leg's frame: "id", "params.name"
	Verdict, Rule string   // what toolman decided about the target, and by which rule
	Msg           []byte   // the whole frame as on the wire
}

// An Event is something that happened in a session and is no frame.
type Event struct {
	Event string // one of the Event names
	Peer  string
	Text  string // what a person should read; a stderr or junk line as it came
	Cut   bool   // Text is the start of something longer: its end is left out if that could be the start of a secret
	Call  uint64 // the call it belongs to; 0: none
}

// A Session describes the process that writes a trace; it is the trace's first line.
type Session struct {
	Run       string   `json:"run"` // tells this run from others in the same file; made up when empty
	Toolman   string   `json:"toolman,omitempty"`
	Go        string   `json:"go,omitempty"`
	Config    string   `json:"config,omitempty"`
	Cwd       string   `json:"cwd,omitempty"`
	Client    string   `json:"client,omitempty"`
	Upstreams []Server `json:"upstreams,omitempty"`
}

// A Server is one configured upstream in a Session.
type Server struct {
	Name    string `json:"ns"`
	Command string `json:"cmd,omitempty"`
	PID     int    `json:"pid,omitempty"` // 0: not started yet
}
