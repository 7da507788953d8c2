package calllog

import (
	"crypto/sha256"
	"encoding/json"
	"strings"
	"time"

	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
	"toolman/router/audit"
	"toolman/router/budget"
)

// MaxContent is the longest input or result of an entry in bytes. Longer ones are dropped.
const MaxContent = audit.MaxRecorded

const maxName = 1000 // bytes of a name

// An Entry is one call in the response to GET /logs.
type Entry struct {
	Timestamp   time.Time       `json:"timestamp"` // of its end; UTC
	Server      string          `json:"server"`
	Tool        string          `json:"tool"`
	Input       json.RawMessage `json:"input"`
	Result      json.RawMessage `json:"result,omitempty"`
	Error       json.RawMessage `json:"error,omitempty"`
	Correlation string          `json:"correlation_id,omitempty"`
	Truncated   bool            `json:"truncated,omitempty"` // input or result is null, because it is too long
	Agent       string          `json:"agent,omitempty"`
	Era         string          `json:"era,omitempty"` // of MCP; "": the call came without MCP
	Client      *Client         `json:"client,omitempty"`
	RecordedBy  string          `json:"recorded_by"`       // Toolman, Server or Both
	Replica     string          `json:"replica,omitempty"` // of a cluster, whose log has the entry

	who   budget.Principal // made the call
	began time.Time
	sent  bool   // the server may have got the call
	input digest // of what the client has sent
	asked string // as in Call
}

// forCaller returns the entry for who has made the call. If the call was denied, its name may
// belong to a server that the caller must not know of.
func (e *Entry) forCaller() *Entry {
	if e.asked == "" {
		return e
	}
	own := *e
	own.Server, own.Tool = "", e.asked
	return &own
}

// Values of Entry.RecordedBy.
const (
	Toolman = "toolman"
	Server  = "server"
	Both    = "both"
)

// A Client is what a program says about itself.
type Client struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// Product returns the Client of the header User-Agent; nil if it names none.
func Product(userAgent string) *Client {
	product, _, _ := strings.Cut(strings.TrimSpace(userAgent), " ")
	name, version, _ := strings.Cut(product, "/")
	return NewClient(name, version)
}

// NewClient returns a Client, with its texts made short and safe to show; nil without a name.
func NewClient(name, version string) *Client {
	name, version = sanitize.Line(sanitize.First(name, maxClient)), sanitize.Line(sanitize.First(version, maxClient))
	if name == "" {
		return nil
	}
	return &Client{name, version}
}

const maxClient = 200 // characters

func (e *Entry) size() int {
	n := len(e.Input) + len(e.Result) + len(e.Error) + len(e.Server) + len(e.Tool) + len(e.Correlation) + len(e.Agent) + 320
	if e.Client != nil {
		n += len(e.Client.Name) + len(e.Client.Version)
	}
	return n
}

// keep returns JSON for the entry: without secrets, or null if it is too long.
func (e *Entry) keep(text []byte, scrub func([]byte) []byte) json.RawMessage {
	if len(text) > MaxContent {
		e.Truncated = true
		return json.RawMessage("null")
	}
	return scrub(text)
}

// A digest identifies the input of a call.
type digest [sha256.Size]byte

// tooLong is the digest of all inputs that are too long.
var tooLong = digest{1}

// digestOf returns the same digest for inputs that mean the same.
func digestOf(input []byte) digest {
	switch {
	case len(input) > MaxContent:
		return tooLong
	case len(input) == 0 || string(input) == "null":
		input = []byte("{}")
	default:
		if canonical, err := mcpwire.Canonical(input); err == nil {
			input = canonical
		}
	}
	return sha256.Sum256(input)
}
