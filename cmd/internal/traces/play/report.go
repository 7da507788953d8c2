package play

import (
	"bytes"
	"fmt"
	"strings"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/junit"
	"toolman/cmd/internal/traces/compare"
	"toolman/cmd/internal/traces/recording"
	"toolman/mcpwire/sanitize"
)

// A Report says what a client has asked, and how that fits the recording.
type Report struct {
	Session *recording.Session
	Cases   []Case
	Stray   int // lines that are no messages, and responses to nothing
}

// A Case is a request of the client, or its answer to a request of the server.
type Case struct {
	Name   string
	Method string
	Line   uint64 // of the recorded request; 0: there is none
	Wrong  string // how it differs from the recording; "": it does not
	differ []compare.Difference
}

func nameOf(c *recording.Call) string {
	return strings.TrimSpace(c.Request.Method + " " + c.Request.Name)
}

// matched notes a request that the recording has. Its input may differ.
func (r *Report) matched(asked, found *recording.Call, differ []compare.Difference) {
	one := Case{Name: nameOf(asked), Method: asked.Request.Method, Line: found.Request.Seq, differ: differ}
	if len(differ) > 0 {
		one.Wrong = "it gives another input than in the recording"
	}
	r.Cases = append(r.Cases, one)
}

// unknown notes a request that the recording does not have.
func (r *Report) unknown(asked *recording.Call, s *stranger) {
	r.Cases = append(r.Cases, Case{Name: nameOf(asked), Method: asked.Request.Method, Wrong: s.why, differ: s.differ})
}

// fail notes that the recording cannot answer a request, which was noted as matched.
func (r *Report) fail(c *recording.Call, why string) {
	for i := len(r.Cases) - 1; i >= 0; i-- {
		if one := &r.Cases[i]; one.Line == c.Request.Seq && one.Wrong == "" {
			one.Wrong = why
			return
		}
	}
}

// answered notes an answer of the client.
func (r *Report) answered(c *recording.Call, differ []compare.Difference) {
	one := Case{Name: "answer to " + nameOf(c), Method: c.Request.Method, Line: c.Request.Seq, differ: differ}
	if len(differ) > 0 {
		one.Wrong = "the answer is another one than in the recording"
	}
	r.Cases = append(r.Cases, one)
}

// Wrong returns how many requests and answers the recording does not have.
func (r *Report) Wrong() (n int) {
	for _, c := range r.Cases {
		if c.Wrong != "" {
			n++
		}
	}
	return n
}

func (c *Case) details(color bool) string {
	var b strings.Builder
	for _, d := range c.differ {
		b.WriteString(compare.Text(d, "    ", color))
	}
	return b.String()
}

// Text returns what is wrong, for people, and a summary.
func (r *Report) Text(color bool) []byte {
	var b bytes.Buffer
	for _, c := range r.Cases {
		if c.Wrong != "" {
			b.WriteString(cli.Paint(color, cli.Red, sanitize.Line(c.Name)+": "+sanitize.Line(c.Wrong)) + "\n" + c.details(color))
		}
	}
	fmt.Fprintf(&b, "toolman: %s of %s answered from the recording", cli.Count(len(r.Cases)-r.Wrong(), "message"), sanitize.Line(r.Session.File))
	if n := r.Wrong(); n > 0 {
		fmt.Fprintf(&b, ", %d not as recorded", n)
	}
	if r.Stray > 0 {
		fmt.Fprintf(&b, ", %s ignored", cli.Count(r.Stray, "stray line"))
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// JUnit returns the report as a suite with a test case for each message.
func (r *Report) JUnit() *junit.Suite {
	suite := &junit.Suite{Name: "toolman trace play " + r.Session.File}
	for i, c := range r.Cases {
		one := junit.Case{Class: c.Method, Name: fmt.Sprintf("%d %s", i+1, c.Name)}
		if c.Wrong != "" {
			one.Failure = strings.TrimSpace(c.Wrong + "\n" + c.details(false))
		}
		suite.Cases = append(suite.Cases, one)
	}
	return suite
}
