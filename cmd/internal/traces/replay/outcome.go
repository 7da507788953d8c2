package replay

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/junit"
	"toolman/cmd/internal/traces/compare"
	"toolman/cmd/internal/traces/recording"
	"toolman/mcpwire/sanitize"
)

// A State says how the replay of a call ended.
type State int

// The states.
const (
	Unknown State = iota // it has not ended
	Equal
	Differs     // see Outcome.Differences
	Failed      // there is nothing to compare; see Outcome.Why
	NotSent     // see Outcome.Why
	NotCompared // the recording has no response; see Outcome.Why
)

// An Outcome is the replay of one recorded call, of the client or of the server.
type Outcome struct {
	Call        *recording.Call
	State       State
	Why         string
	Differences []compare.Difference
	Took        time.Duration
}

func (o *Outcome) mismatch() bool { return o.State == Differs || o.State == Failed }

func (o *Outcome) name() string {
	name := strings.TrimSpace(o.Call.Request.Method + " " + o.Call.Request.Name)
	if !o.Call.FromClient() {
		name += " (by the server)"
	}
	return name
}

// details says what is wrong, in lines with an indent.
func (o *Outcome) details(color bool) string {
	var b strings.Builder
	for _, d := range o.Differences {
		b.WriteString(compare.Text(d, "    ", color))
	}
	return b.String()
}

// A Report is the result of a replay.
type Report struct {
	Session  *recording.Session
	Outcomes []*Outcome // in the order of the recording
	Ignored  []compare.Ignored
	Stray    int    // lines of the server that are no messages
	Sample   string // the first of them
	Exit     string // how the server ended, if it did so by itself
	closed   bool   // the server has closed the connection
	Unasked  []string
}

// Mismatches returns how many calls had another outcome than in the recording.
func (r *Report) Mismatches() int {
	n := len(r.Unasked)
	for _, o := range r.Outcomes {
		if o.mismatch() {
			n++
		}
	}
	return n
}

// count returns how many outcomes have a state.
func (r *Report) count(s State) (n int) {
	for _, o := range r.Outcomes {
		if o.State == s {
			n++
		}
	}
	return n
}

// Text returns the report for people.
func (r *Report) Text(color bool) []byte {
	var b bytes.Buffer
	client, server := r.Session.Names()
	fmt.Fprintf(&b, "%s, run %d: %s\n", line(r.Session.File), r.Session.Run, line(strings.TrimSpace(client+" -> "+server)))
	for _, o := range r.Outcomes {
		mark, paint := "?", ""
		switch o.State {
		case Equal, NotCompared:
			continue
		case Differs:
			mark, paint = "~", cli.Yellow
		case Failed:
			mark, paint = "!", cli.Red
		}
		text := fmt.Sprintf("%s %s  line %d", mark, line(o.name()), o.Call.Request.Seq)
		if o.Why != "" {
			text += ": " + line(o.Why)
		}
		b.WriteString(cli.Paint(color, paint, text) + "\n" + o.details(color))
	}
	for _, what := range r.Unasked {
		b.WriteString(cli.Paint(color, cli.Red, "! "+line(what)) + "\n")
	}
	if r.Stray > 0 {
		fmt.Fprintf(&b, "  the server wrote %s that MCP does not have, such as %s\n", cli.Count(r.Stray, "line"), line(r.Sample))
	}
	if r.Exit != "" {
		fmt.Fprintf(&b, "  the server ended by itself: %s\n", line(r.Exit))
	}
	fmt.Fprintf(&b, "\n%s\n", r.Summary())
	return b.Bytes()
}

// Summary counts the outcomes in one line.
func (r *Report) Summary() string {
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{{r.count(Equal), "equal"}, {r.count(Differs), "different"}, {r.count(Failed) + len(r.Unasked), "failed"},
		{r.count(NotCompared), "without a recorded response"}, {r.count(NotSent), "not sent"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	ignored := 0
	for _, i := range r.Ignored {
		ignored += i.Count
	}
	if ignored > 0 {
		parts = append(parts, cli.Count(ignored, "difference")+" ignored")
	}
	return strings.Join(parts, ", ")
}

// JUnit returns the report as a suite with a test case for each call.
func (r *Report) JUnit() *junit.Suite {
	suite := &junit.Suite{Name: "toolman trace replay " + r.Session.File}
	for _, o := range r.Outcomes {
		c := junit.Case{Class: o.Call.Request.Method, Name: fmt.Sprintf("%s, line %d", o.name(), o.Call.Request.Seq), Time: o.Took}
		switch o.State {
		case Differs:
			c.Failure = cli.Count(len(o.Differences), "difference") + "\n" + o.details(false)
		case Failed:
			c.Failure = o.Why
		case NotSent, NotCompared:
			c.Skipped = o.Why
		}
		suite.Cases = append(suite.Cases, c)
	}
	for _, what := range r.Unasked {
		suite.Cases = append(suite.Cases, junit.Case{Class: "server", Name: what, Failure: what})
	}
	return suite
}

// line makes foreign text safe to print on one line.
func line(text string) string { return sanitize.Line(text) }
