package check

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"toolman/cmd/internal/traces/calls"
	"toolman/jsonrpc/trace"
	"toolman/jsonrpc/trace/filter"
	"toolman/mcpwire/schema"
)

// A Result is what was found.
type Result struct {
	File      string         `json:"file"`
	Calls     int            `json:"calls"`
	Counts    map[string]int `json:"counts"` // by kind
	Findings  []*Finding     `json:"findings"`
	Unchecked []string       `json:"unchecked,omitempty"` // revisions without a schema
	Exit      int            `json:"exit"`
}

// A checker checks a trace.
type checker struct {
	filter  filter.Filter
	source  schema.Source // nil: no schemas
	budgets []*budget

	found     findings
	unchecked map[string]bool
	run       int
	calls     int
	tally     tally
	bad       int // lines that are no records
}

func (k *checker) check(in io.Reader) error {
	k.unchecked, k.tally = map[string]bool{}, tally{}
	assembler := calls.NewAssembler(k.filter, false, k.call)
	j := &judge{source: k.source, filter: k.filter, unchecked: k.unchecked, found: &k.found}
	for r, err := range trace.Read(in) {
		if _, bad := errors.AsType[*trace.LineError](err); bad {
			k.bad++
			continue
		}
		if err != nil {
			return err
		}
		if r.Type == trace.TypeSession || k.run == 0 {
			assembler.EndAll()
			if err := j.end(); err != nil {
				return err
			}
			k.run++
			j.run = k.run
		}
		j.take(r)
		assembler.Take(r)
		k.record(r)
	}
	assembler.EndAll()
	if err := j.end(); err != nil {
		return err
	}
	for _, b := range k.budgets {
		b.check(k.tally, &k.found)
	}
	return nil
}

// call takes a call that is over, or that is not when the session ends.
func (k *checker) call(c *calls.Call) {
	if c.Late() {
		return // record has seen its answer
	}
	k.calls++
	k.tally.add(c)
	switch {
	case c.Status == trace.StatusPending && !endless(c.Method):
		k.found.add("hung", k.run, c.First, "it has no answer at the end of the session")
	case c.Failed():
		text := c.Status
		if c.Code != 0 {
			text += fmt.Sprint(" ", c.Code)
		}
		if c.Rule != "" {
			text += ", " + c.Verdict + " (" + c.Rule + ")"
		}
		k.found.add("error", k.run, c.First, strings.TrimSuffix(text+": "+c.Error, ": "))
	}
}

// endless reports whether requests of a method end only with the session.
func endless(method string) bool { return method == "subscriptions/listen" }

// record takes a line that is a finding by itself.
func (k *checker) record(r *trace.Record) {
	if !k.filter.Match(k.filter.SubjectOf(r)) {
		return
	}
	switch {
	case r.Event == trace.EventJunk:
		k.found.add("stray", k.run, r, "on standard output: "+r.Text)
	case r.Event == trace.EventDrop:
		k.found.put(Finding{Kind: "dropped", Text: "lines were lost", Count: int(min(r.Count, 1<<30)), Run: k.run, Seq: r.Seq, US: r.US})
	case r.Kind == trace.Invalid:
		k.found.add("violation", k.run, r, cmp.Or(r.Rule, "it is not a message"))
	case r.Status == trace.StatusLate:
		k.found.add("late", k.run, r, "the answer came after the call was over")
	case r.Status == trace.StatusOrphan:
		k.found.add("late", k.run, r, "an answer to no request")
	}
}

// result returns what was found.
func (k *checker) result(file string) *Result {
	r := &Result{File: file, Calls: k.calls, Counts: map[string]int{}, Findings: k.found.sorted()}
	if r.Findings == nil {
		r.Findings = []*Finding{}
	}
	for _, f := range r.Findings {
		r.Counts[f.Kind] += f.Count
	}
	for i := len(Kinds) - 1; i >= 0; i-- {
		if r.Counts[Kinds[i].Name] > 0 {
			r.Exit = Kinds[i].Code
		}
	}
	return r
}
