package audit

import (
	"encoding/json"
	"time"
)

// A Verdict is what was decided about a request.
type Verdict string

// The verdicts.
const (
	Allowed   Verdict = "allowed"
	Denied    Verdict = "denied"    // by a policy, or as too dangerous
	Inactive  Verdict = "inactive"  // it may be had, but is not switched on
	Held      Verdict = "held"      // back by its pin
	Unknown   Verdict = "unknown"   // nothing has that name
	Ambiguous Verdict = "ambiguous" // several servers have that name
	Invalid   Verdict = "invalid"   // the request cannot be understood, or has arguments that do not fit the tool
	Busy      Verdict = "busy"      // too much waits already

	Asked       Verdict = "asked"       // a person has to agree, and has not answered yet
	Confirmed   Verdict = "confirmed"   // a person has agreed
	Declined    Verdict = "declined"    // a person was asked, and has not agreed
	Unconfirmed Verdict = "unconfirmed" // nobody could be asked, or has answered
)

// An Outcome is how a request ended.
type Outcome string

// The outcomes.
const (
	OK            Outcome = "ok"
	ToolError     Outcome = "tool_error"     // a result that says isError
	RPCError      Outcome = "rpc_error"      // an error of the server
	InputRequired Outcome = "input_required" // the server wants to know more, and the client makes the request again
	Refused       Outcome = "refused"        // by toolman: no server was asked
	Cancelled     Outcome = "cancelled"      // by the client, or because it is gone
	Timeout       Outcome = "timeout"        // call_timeout
	Gone          Outcome = "gone"           // the server has ended
	Failed        Outcome = "failed"         // there is no answer that could be passed on
)

// A Line is one line of the log. Fields without a value are left out.
type Line struct {
	Time    time.Time `json:"time"`              // when the request came; UTC
	Agent   string    `json:"agent,omitempty"`   // whose policies count
	Client  string    `json:"client,omitempty"`  // what the client calls itself
	Session string    `json:"session,omitempty"` // its connection; over stdio, one run of toolman
	Call    string    `json:"call,omitempty"`    // the request's number in the trace, if there is one

	Correlation string `json:"correlation_id,omitempty"` // what a program that uses the bridge calls it

	Method string `json:"method,omitempty"` // of MCP
	Server string `json:"server,omitempty"` // its name or, without one, its namespace; "toolman" for what is its own
	Kind   string `json:"kind,omitempty"`   // "tool", "resource", "resource template" or "prompt"
	Name   string `json:"name,omitempty"`   // as clients see it; a URI, or what nothing has, as it was asked for

	Verdict    Verdict `json:"verdict,omitempty"`
	Rule       string  `json:"rule,omitempty"` // that decided, and where it stands, as `toolman explain` has it
	Outcome    Outcome `json:"outcome,omitempty"`
	DurationMS float64 `json:"duration_ms"` // from when the request came, to a microsecond

	// The request that was passed on to the server, as it came, and the answer. For the Observer.
	RequestBytes int `json:"-"`
	AnswerBytes  int `json:"-"`

	// The SHA-256 of the arguments in canonical JSON (RFC 8785); of those that have no such form, or are longer than 256 KiB, of their
	// bytes as they came. Hexadecimal. Neither is there without arguments, or where they could not be kept.
	ArgumentsSHA256      string          `json:"arguments_sha256,omitempty"`
	ArgumentsBytesSHA256 string          `json:"arguments_bytes_sha256,omitempty"`
	Arguments            json.RawMessage `json:"arguments,omitempty"` // if they were asked for, without secrets

	Dropped uint64 `json:"dropped,omitempty"` // lines that are missing before this one
}
