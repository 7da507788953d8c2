package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"toolman/mcpwire"
)

// A Verdict is the decision about a request.
type Verdict string

// The verdicts.
const (
	Allowed   Verdict = "allowed"
	Denied    Verdict = "denied"    // by a policy, or as too dangerous
	Inactive  Verdict = "inactive"  // the client may use the item, but it is not active
	Held      Verdict = "held"      // the definition differs from the pin
	Unknown   Verdict = "unknown"   // no item has that name
	Ambiguous Verdict = "ambiguous" // several servers have an item of that name
	Invalid   Verdict = "invalid"   // the request is malformed, or its arguments do not match the tool
	Busy      Verdict = "busy"      // too many calls wait already

	Asked       Verdict = "asked"       // a person has to confirm, and has not answered yet
	Confirmed   Verdict = "confirmed"   // a person has confirmed
	Declined    Verdict = "declined"    // a person has refused
	Unconfirmed Verdict = "unconfirmed" // no person could be asked, or none has answered
)

// An Outcome is how a request ended.
type Outcome string

// The outcomes.
const (
	OK            Outcome = "ok"
	ToolError     Outcome = "tool_error"     // a result with isError
	RPCError      Outcome = "rpc_error"      // an error response of the server
	InputRequired Outcome = "input_required" // the server needs input; the client repeats the request
	Refused       Outcome = "refused"        // by toolman; no server got the request
	Cancelled     Outcome = "cancelled"      // by the client, or because it has disconnected
	Timeout       Outcome = "timeout"        // call_timeout
	Gone          Outcome = "gone"           // the server has ended
	Failed        Outcome = "failed"         // the answer could not be passed on
)

// A Line is one line of the log. Fields without a value are left out.
type Line struct {
	Time    time.Time `json:"time"`              // of the request; UTC
	Agent   string    `json:"agent,omitempty"`   // whose policy applies
	Client  string    `json:"client,omitempty"`  // its own name for itself
	Session string    `json:"session,omitempty"` // its connection; over stdio, one run of toolman
	Call    string    `json:"call,omitempty"`    // the request's number in the trace, if there is a trace

	Correlation string `json:"correlation_id,omitempty"` // the correlation ID of a request of the bridge

	Method string `json:"method,omitempty"` // of MCP
	Server string `json:"server,omitempty"` // its name or, without one, its namespace; "toolman" for toolman's own items
	Kind   string `json:"kind,omitempty"`   // "tool", "resource", "resource template" or "prompt"
	Name   string `json:"name,omitempty"`   // the name for clients; a URI or an unknown name as in the request

	Verdict    Verdict `json:"verdict,omitempty"`
	Rule       string  `json:"rule,omitempty"` // that decided, and its place, as in `toolman explain`
	Outcome    Outcome `json:"outcome,omitempty"`
	Cached     bool    `json:"cached,omitempty"` // the answer is an earlier one of the server
	DurationMS float64 `json:"duration_ms"`      // since the request came, in microseconds precision

	Toolsets []string `json:"toolsets,omitempty"` // in use that contain the tool
	Traffic
	Given
	Program Program `json:"-"` // for the Recorder

	Added
}

// Added is what a Writer adds to a line.
type Added struct {
	Replica string `json:"replica,omitempty"` // that decided, in a cluster
	Dropped uint64 `json:"dropped,omitempty"` // lines that are missing before this one
}

// Traffic is the length of the request that was passed on to the server, and of its answer.
type Traffic struct {
	RequestBytes int `json:"request_bytes,omitempty"`
	AnswerBytes  int `json:"answer_bytes,omitempty"`
}

// Given are the arguments of a request. The SHA-256 is that of their canonical JSON (RFC 8785). If
// they have no such form, or are longer than 256 KiB, it is that of their bytes. Hexadecimal. Both
// are missing if there are no arguments, or they could not be kept.
type Given struct {
	ArgumentsSHA256      string          `json:"arguments_sha256,omitempty"`
	ArgumentsBytesSHA256 string          `json:"arguments_bytes_sha256,omitempty"`
	Arguments            json.RawMessage `json:"arguments,omitempty"` // with Options.Arguments; without secrets
}

const (
	maxCanonical = 256 << 10 // bytes of arguments for the canonical form
	maxArguments = 64 << 10  // bytes of arguments that are written
	maxName      = 1 << 10   // bytes of a name that are written
)

// render appends the line of a decision. lost is the number of lines that are missing before it.
func (w *Writer) render(dst []byte, d *Decision, lost uint64) []byte {
	line := d.line
	line.Dropped = lost
	if d.rule != nil {
		line.Rule = d.rule(line.Verdict)
	}
	if d.toolsets != nil {
		line.Toolsets = d.toolsets()
	}
	line.Client = w.text(line.Client)
	if !line.offered() {
		line.Name = w.text(line.Name)
	}
	if len(d.arguments) > 0 {
		line.digest(d.arguments)
		if w.arguments && len(d.arguments) <= maxArguments {
			line.Arguments = w.scrub.JSON(bytes.ToValidUTF8(d.arguments, []byte("\uFFFD")))
		}
	}
	text, err := encode(line)
	if err != nil { // the arguments cannot be encoded
		line.Arguments = nil
		text, _ = encode(line)
	}
	return append(dst, text...)
}

// offered reports whether the name comes from a server, and not from the client. Such a name is
// written even if a secret happens to be a part of it: many tools are called read.
func (l *Line) offered() bool { return l.Server != "" && (l.Kind == "tool" || l.Kind == "prompt") }

func encode(line Line) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(line)
	return out.Bytes(), err
}

// text returns a text of a client, shortened and without secrets.
func (w *Writer) text(s string) string {
	if s = w.scrub.Text(s); len(s) <= maxName {
		return s
	}
	return strings.ToValidUTF8(s[:maxName], "") + "…"
}

// digest sets the hash of arguments.
func (l *Line) digest(arguments []byte) {
	if len(arguments) <= maxCanonical {
		if canonical, err := mcpwire.Canonical(arguments); err == nil {
			l.ArgumentsSHA256 = fmt.Sprintf("%x", sha256.Sum256(canonical))
			return
		}
	}
	l.ArgumentsBytesSHA256 = fmt.Sprintf("%x", sha256.Sum256(arguments))
}
