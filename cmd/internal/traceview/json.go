package traceview

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

// A jsonCall is a call as --json prints it: what the table shows, times in microseconds.
type jsonCall struct {
	Type    string    `json:"t"` // "call"
	Call    string    `json:"call,omitempty"`
	Time    time.Time `json:"ts"`
	US      int64     `json:"us"`
	From    string    `json:"from"`
	To      string    `json:"to"`
	Method  string    `json:"method"`
	Name    string    `json:"name,omitempty"`
	Target  string    `json:"target,omitempty"` // the name at the peer it went to
	Status  string    `json:"status"`
	Code    int       `json:"code,omitempty"`
	Verdict string    `json:"verdict,omitempty"`
	Rule    string    `json:"rule,omitempty"`
	Error   string    `json:"error,omitempty"`
	TotalUS int64     `json:"total_us,omitempty"`
	OwnUS   int64     `json:"own_us,omitempty"`
	PeerUS  int64     `json:"peer_us,omitempty"` // what the peer it went to took
	In      int       `json:"in_bytes"`
	Out     int       `json:"out_bytes"`

	Frames []json.RawMessage `json:"frames,omitempty"`
}

func (c *call) json(verbose bool) []byte {
	from, to, _ := strings.Cut(c.peers(), " -> ")
	j := jsonCall{
		Type: "call", Call: c.first.Call, Time: c.first.Time, US: c.first.US, From: from, To: to,
		Method: c.first.Method, Name: c.first.Name, Target: c.target, Status: c.status, Code: c.code,
		Verdict: c.verdict, Rule: c.rule, Error: c.problem,
		TotalUS: c.total, OwnUS: c.own, PeerUS: c.there, In: c.in, Out: c.out,
	}
	if verbose {
		for _, r := range c.frames {
			j.Frames = append(j.Frames, r.Line)
		}
	}
	return encode(j)
}

// encode is v on one line, and for people too: < stays <.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // own types: cannot be
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
