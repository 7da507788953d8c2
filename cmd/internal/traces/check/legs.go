package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"toolman/jsonrpc/trace"
	"toolman/jsonrpc/trace/filter"
	"toolman/mcpwire/schema"
)

// A conversation is what passed between toolman and one peer in a session.
type conversation struct {
	leg        trace.Leg
	peer       string
	records    []*trace.Record
	revision   string // that was negotiated; "": unknown
	handshakes int    // requests of initialize
}

// A judge judges the conversations of a session by the protocol.
type judge struct {
	run       int
	source    schema.Source
	filter    filter.Filter
	all       []*conversation
	lossy     bool
	unchecked map[string]bool // revisions without a schema
	found     *findings
}

// take adds a frame to its conversation.
func (j *judge) take(r *trace.Record) {
	if r.Event == trace.EventDrop {
		j.lossy = true
	}
	if r.Type != trace.TypeFrame || r.Kind == trace.Invalid {
		return
	}
	at := slices.IndexFunc(j.all, func(c *conversation) bool { return c.leg == r.Leg && c.peer == r.Peer })
	if at < 0 {
		j.all, at = append(j.all, &conversation{leg: r.Leg, peer: r.Peer}), len(j.all)
	}
	c := j.all[at]
	c.records = append(c.records, r)
	c.note(r)
}

// note finds out the revision.
func (c *conversation) note(r *trace.Record) {
	var m struct {
		Params struct {
			Meta struct {
				Version string `json:"io.modelcontextprotocol/protocolVersion"`
			} `json:"_meta"`
		}
		Result struct{ ProtocolVersion string }
	}
	switch {
	case r.Kind == trace.Request && r.Method == "initialize":
		c.handshakes++
	case r.Kind == trace.Response && r.Method == "initialize":
		if json.Unmarshal(r.Msg, &m) == nil && m.Result.ProtocolVersion != "" {
			c.revision = m.Result.ProtocolVersion
		}
	case c.revision == "" && r.Kind == trace.Request && r.Method != "server/discover" && len(c.records) < 100:
		if json.Unmarshal(r.Msg, &m) == nil {
			c.revision = m.Params.Meta.Version
		}
	}
}

// end judges all conversations.
func (j *judge) end() error {
	for _, c := range j.all {
		if err := j.judge(c); err != nil {
			return err
		}
	}
	j.all, j.lossy = nil, false
	return nil
}

func (j *judge) judge(c *conversation) error {
	o := schema.Options{Strict: c.leg == trace.Client}
	// Several sessions of clients with one name cannot be told apart, nor what a process knew that
	// has been replaced.
	o.Lossy = j.lossy || c.handshakes > 1
	source := j.source
	if !schema.Known(c.revision) { // a trace could name any file with it
		source = nil
	}
	leg, err := schema.NewLeg(c.revision, source, o)
	if source == nil || errors.Is(err, fs.ErrNotExist) {
		j.unchecked[c.revision] = true
		leg, err = schema.NewLeg(c.revision, nil, o)
	}
	if err != nil {
		return err
	}
	for _, r := range c.records {
		if r.Status == trace.StatusLate || r.Status == trace.StatusOrphan {
			continue
		}
		d := direction(r)
		known := len(leg.Violations(d))
		if r.Msg == nil || r.Trunc || len(r.Redacted) > 0 {
			leg.Partial(d, partOf(r))
		} else {
			leg.Frame(d, r.Msg)
		}
		for _, v := range leg.Violations(d)[known:] {
			if j.filter.Match(j.filter.SubjectOf(r)) {
				j.found.add("violation", j.run, r, fmt.Sprintf("sent by the %s: %s", v.Direction, strings.ReplaceAll(v.Err.Error(), "\n", "; ")))
			}
		}
	}
	return nil
}

// direction returns which way a frame goes: toolman is the server of its clients.
func direction(r *trace.Record) schema.Direction {
	if (r.Leg == trace.Client) == (r.Dir == trace.In) {
		return schema.ToServer
	}
	return schema.ToClient
}

// partOf returns a frame with what is certain of one that the trace has only in part, or with
// placeholders.
func partOf(r *trace.Record) []byte {
	if r.Msg != nil {
		return r.Msg
	}
	m := map[string]any{"jsonrpc": "2.0"}
	if r.ID != nil {
		m["id"] = r.ID
	}
	if r.Kind == trace.Response {
		m["result"] = map[string]any{}
	} else {
		m["method"] = r.Method
	}
	text, _ := json.Marshal(m) // an ID is JSON
	return text
}
