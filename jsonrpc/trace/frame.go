package trace

import "time"

// Leg is the side of toolman on which a frame travelled.
type Leg string

// The legs of a call.
const (
	Client   Leg = "client"   // between an MCP client and toolman
	Upstream Leg = "upstream" // between toolman and an upstream server
)

// Dir is the direction of a frame, seen from toolman.
type Dir string

// The directions.
const (
	In  Dir = "in"  // a peer sent it to toolman
	Out Dir = "out" // toolman sent it to a peer
)

// Kind is the kind of a frame in JSON-RPC.
type Kind string

// The kinds of frame.
const (
	Request      Kind = "request"
	Response     Kind = "response"
	Notification Kind = "notification"
	Invalid      Kind = "invalid" // not JSON, or not JSON-RPC
)

// The values of a response's status.
const (
	StatusOK        = "ok"
	StatusRPCError  = "rpc_error"  // a JSON-RPC error
	StatusToolError = "tool_error" // a tool result with isError
	StatusCancelled = "cancelled"
	StatusTimeout   = "timeout"
	StatusLate      = "late"   // the answer to a call that has ended
	StatusOrphan    = "orphan" // an answer without a call
	StatusLocal     = "local"  // toolman's own answer
	StatusCached    = "cached" // an earlier answer of the server
)

// The values of a call's status besides those of a response.
const (
	StatusPending = "pending"
	StatusGone    = "gone" // the server that was asked is gone
)

// IsFailure reports whether a response with this status is a failure of the call.
func IsFailure(status string) bool {
	return status == StatusRPCError || status == StatusToolError || status == StatusTimeout
}

// The names of events.
const (
	EventSpawn    = "spawn"
	EventReady    = "ready"
	EventGone     = "gone"
	EventExit     = "exit" // the server of a tap has ended
	EventHTTP     = "http" // an exchange of a tap that failed, or had no message
	EventStderr   = "stderr"
	EventJunk     = "junk" // a line on an upstream's stdout that is not a message
	EventActivate = "activate"
	EventSettle   = "settle"
	EventDrop     = "drop" // lines of this trace were lost
	EventShutdown = "shutdown"

	// The events of --debug. Each has a Debugged.
	EventHeld     = "held"     // a message waits for the user
	EventReleased = "released" // a message no longer waits
	EventFault    = "fault"    // a rule has done something to a message
)

// What was done to a message that waited, or that a rule has chosen.
const (
	DonePassed       = "passed" // as it came
	DoneEdited       = "edited" // and then passed on
	DoneAnswered     = "answered"
	DoneDropped      = "dropped"
	DoneDelayed      = "delayed" // it waits for some time
	DoneCancelled    = "cancelled"
	DoneDisconnected = "disconnected"
)

// A Frame describes one frame on one leg. The byte slices are borrowed for the call of Writer.Frame
// only.
type Frame struct {
	Leg          Leg
	Peer         string // the client's or the upstream's name
	Dir          Dir
	Kind         Kind
	Method, Name string // of the request; Name is the tool, prompt or URI as on this leg
	ID           []byte // the JSON token as on this leg; nil: none
	Call         uint64 // the same number on all frames of a call; 0: none
	Status       string // of a response: one of the Status values
	Code         int    // the JSON-RPC error code when Status is rpc_error

	LegTime   time.Duration // of a response of an upstream: the time that the upstream took
	TotalTime time.Duration // of the response that ends a call: the time since its request arrived
	OwnTime   time.Duration // toolman's part of TotalTime; times of 0 or less are not written

	Rewrote       []string // JSON paths that differ from the frame on the other leg, such as "id"; not to be changed later
	Verdict, Rule string   // toolman's decision about the target, and the rule behind it
	Msg           []byte   // the frame as on the wire
	Scanned       bool     // jsonrpc.Scan has accepted Msg: it need not be checked again

	At   time.Time // when it was seen; zero: now
	Size int       // of the whole frame, if Msg is only its start
}

// An Event is something that happened in a session other than a frame.
type Event struct {
	Event string // one of the Event values
	Peer  string
	Text  string // for people; a line of stderr or junk is verbatim
	Cut   bool   // Text is the start of a longer text
	Call  uint64 // the call of the event; 0: none

	At time.Time // when it happened; zero: now

	Debugged *Debugged // of an event of --debug, else nil
}

// A Debugged is the message of an event of --debug. A frame with the same leg, peer and ID follows
// in the trace, unless the message never goes on. The byte slices are borrowed for the call of
// Writer.Event only.
type Debugged struct {
	Hold   uint64 // number of the message among those that waited; 0: it did not wait
	Leg    Leg
	Dir    Dir
	Kind   Kind
	Method string
	Name   string        // of the item that it is about
	ID     []byte        // the JSON token; nil: none
	Done   string        // one of the Done values; "" in EventHeld
	Held   time.Duration // how long it has waited
	Msg    []byte        // the message as it came, where what goes on is another; nil: none
}

// A Session describes the process that writes a trace. It is the first line of the trace.
type Session struct {
	Run       string   `json:"run"` // distinguishes the runs in a file; random if empty
	Toolman   string   `json:"toolman,omitempty"`
	Go        string   `json:"go,omitempty"`
	Config    string   `json:"config,omitempty"`
	Cwd       string   `json:"cwd,omitempty"`
	Client    string   `json:"client,omitempty"`
	Tap       string   `json:"tap,omitempty"`   // the server that the client talks to, if toolman is only a tap
	Debug     string   `json:"debug,omitempty"` // the socket that --debug has opened
	Upstreams []Server `json:"upstreams,omitempty"`
}

// A Server is one configured upstream in a Session.
type Server struct {
	Name    string `json:"ns"`
	Command string `json:"cmd,omitempty"`
	PID     int    `json:"pid,omitempty"` // 0: not started yet
}
