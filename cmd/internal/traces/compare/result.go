package compare

import (
	"encoding/json"

	"toolman/cmd/internal/traces/recording"
)

// A Result says how two sessions differ.
type Result struct {
	Equal bool `json:"equal"`
	A     Side `json:"a"`
	B     Side `json:"b"`

	Same    int `json:"same"` // also those that only moved
	Changed int `json:"changed"`
	Removed int `json:"removed"`
	Added   int `json:"added"`
	Moved   int `json:"moved"`

	Pairs         []*Pair   `json:"calls"`
	Notifications []Count   `json:"notifications,omitempty"` // of methods whose numbers differ
	Ignored       []Ignored `json:"ignored,omitempty"`       // differences, by the rule that ignores them
}

// A Side is one of the two sessions.
type Side struct {
	File   string `json:"file"`
	Run    int    `json:"run"`
	ID     string `json:"id,omitempty"` // the run's name
	Client string `json:"client,omitempty"`
	Server string `json:"server,omitempty"`
	Calls  int    `json:"calls"` // that the filters select
}

// A State says in which sessions a call is.
type State string

// The states.
const (
	Same    State = "same"
	Changed State = "changed"
	Removed State = "removed" // only in A
	Added   State = "added"   // only in B
)

// A Pair is a call in both sessions, or in one of them.
type Pair struct {
	State  State  `json:"state"`
	Moved  bool   `json:"moved,omitempty"`
	By     string `json:"by"` // client or server
	Method string `json:"method"`
	Name   string `json:"name,omitempty"` // in B, if it is there
	A      *Call  `json:"a,omitempty"`
	B      *Call  `json:"b,omitempty"`

	Request  []Difference `json:"request,omitempty"`
	Response []Difference `json:"response,omitempty"`
	Slower   bool         `json:"slower,omitempty"` // B took longer by more than the threshold, and at least twice as long
	Faster   bool         `json:"faster,omitempty"`
}

// A Call is a call in one session. Times are in microseconds.
type Call struct {
	Seq     uint64 `json:"seq"` // of the line that has the request
	Call    string `json:"call,omitempty"`
	Status  string `json:"status"`
	Code    int    `json:"code,omitempty"`
	US      int64  `json:"us"` // when it began, since the start of the run
	TotalUS int64  `json:"total_us,omitempty"`
}

// A Difference is a place at which two messages differ.
type Difference struct {
	Path  string          `json:"path"`
	Order bool            `json:"order,omitempty"` // the same items in another order; A and B are their names
	A     json.RawMessage `json:"a,omitempty"`
	B     json.RawMessage `json:"b,omitempty"`
}

// A Count is how many notifications of a method there were.
type Count struct {
	Method string `json:"method"`
	A      int    `json:"a"`
	B      int    `json:"b"`
}

// Ignored counts the differences that a rule ignores.
type Ignored struct {
	Rule  string `json:"rule"`
	Count int    `json:"count"`
}

func sideOf(s *recording.Session, calls int) Side {
	side := Side{File: s.File, Run: s.Run, ID: s.Info.Run, Calls: calls, Server: s.Info.Tap}
	client, server := s.Names()
	if client != "" {
		side.Client = client
	}
	if server != "" {
		side.Server = server
	}
	return side
}

func callOf(c *recording.Call) *Call {
	return &Call{Seq: c.Request.Seq, Call: c.Request.Record.Call, Status: c.Status(), Code: c.Code(), US: c.Request.US, TotalUS: c.US()}
}
