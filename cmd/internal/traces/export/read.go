package export

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"toolman/cmd/internal/traces/calls"
	"toolman/jsonrpc/trace"
	"toolman/jsonrpc/trace/filter"
)

// A Trace is what a trace has, as far as the filter selects it.
type Trace struct {
	Runs []*Run
	Bad  int // lines that are no records
}

// A Run is a session of a trace: what one process wrote.
type Run struct {
	Info    *trace.Session // may be empty
	First   *trace.Record  // its first line
	Last    *trace.Record  // its last line
	Calls   []*calls.Call  // in the order of their requests, with their records
	Records []*trace.Record

	revisions map[string]string // by leg and peer: what initialize has negotiated
	spawned   map[string]bool   // servers that are processes
}

// Read reads a trace.
func Read(in io.Reader, filter filter.Filter) (*Trace, error) {
	t := &Trace{}
	var run *Run
	assembler := calls.NewAssembler(filter, true, func(c *calls.Call) {
		if !c.Late() {
			run.Calls = append(run.Calls, c)
		}
	})
	var loose []*trace.Record // of no call
	end := func() {
		assembler.EndAll()
		if run == nil {
			return
		}
		for _, c := range run.Calls {
			run.Records = append(run.Records, c.Records...)
		}
		for _, r := range loose {
			if filter.Match(filter.SubjectOf(r)) {
				run.Records = append(run.Records, r)
			}
		}
		loose = nil
		slices.SortStableFunc(run.Calls, func(a, b *calls.Call) int { return cmp.Compare(a.First.Seq, b.First.Seq) })
		slices.SortStableFunc(run.Records, func(a, b *trace.Record) int { return cmp.Compare(a.Seq, b.Seq) })
	}
	for r, err := range trace.Read(in) {
		if _, bad := errors.AsType[*trace.LineError](err); bad {
			t.Bad++
			continue
		}
		if err != nil {
			return nil, err
		}
		if run == nil || r.Type == trace.TypeSession {
			end()
			run = &Run{Info: r.Session, First: r, revisions: map[string]string{}, spawned: map[string]bool{}}
			if run.Info == nil {
				run.Info = &trace.Session{}
			}
			t.Runs = append(t.Runs, run)
		}
		run.Last = r
		run.note(r)
		if assembler.Take(r) == nil && r.Type != trace.TypeSession {
			loose = append(loose, r)
		}
	}
	end()
	return t, nil
}

// note records which servers are processes, and the revision that a connection uses.
func (run *Run) note(r *trace.Record) {
	if r.Event == trace.EventSpawn {
		run.spawned[r.Peer] = true
	}
	if r.Kind != trace.Response || r.Method != "initialize" || r.Msg == nil {
		return
	}
	var m struct {
		Result struct {
			ProtocolVersion string `json:"protocolVersion"`
		} `json:"result"`
	}
	if json.Unmarshal(r.Msg, &m) == nil && m.Result.ProtocolVersion != "" {
		run.revisions[string(r.Leg)+"\x00"+r.Peer] = m.Result.ProtocolVersion
	}
}

// self is who the trace is of: toolman, or the server of a tap.
func (run *Run) self() string { return cmp.Or(run.Info.Tap, calls.Toolman) }

// response returns the response that a call's first request got, or nil.
func response(c *calls.Call) *trace.Record {
	for _, r := range slices.Backward(c.Records) {
		if r.Kind == trace.Response && r.Leg == c.First.Leg && r.Dir != c.First.Dir && string(r.ID) == string(c.First.ID) {
			return r
		}
	}
	return nil
}

// text returns the frame of a record as text.
func text(r *trace.Record) string {
	if r.Msg != nil {
		return string(r.Msg)
	}
	return r.Text
}

// ms returns microseconds in milliseconds.
func ms(us int64) float64 { return float64(us) / 1000 }
