package audit

import "time"

// A Decision is a request that was decided about. It belongs to whoever has the right to answer the request. A nil *Decision is
// of a request that is not audited.
type Decision struct {
	w         *Writer
	line      Line
	came      time.Time
	rule      Rule
	arguments []byte
	over      bool
}

// A Rule says by which rule a verdict came about. It is asked late, on another goroutine.
type Rule func(Verdict) string

// Begin begins a decision. The line says who and what; rule may be nil. The arguments are copied,
// and looked at later. came is when the request came.
func (w *Writer) Begin(line Line, rule Rule, came time.Time, arguments []byte) *Decision {
	if w == nil {
		return nil
	}
	d := &Decision{w: w, line: line, came: came, rule: rule}
	w.begun(&d.line)
	d.arguments = w.keep(arguments)
	return d
}

// Decide changes the verdict: something else than at first has decided.
func (d *Decision) Decide(v Verdict) {
	if d != nil && !d.over {
		d.line.Verdict = v
	}
}

// Asked notes that the request is passed on to its server, with so many bytes.
func (d *Decision) Asked(bytes int) {
	if d != nil {
		d.line.RequestBytes += bytes
	}
}

// Answered notes that the server has answered with so many bytes.
func (d *Decision) Answered(bytes int) {
	if d != nil {
		d.line.AnswerBytes += bytes
	}
}

// Verdict returns what was decided last.
func (d *Decision) Verdict() Verdict { return d.line.Verdict }

// End writes the line. Only the first End counts: a request that was over for its server may be found undeliverable afterwards.
func (d *Decision) End(how Outcome) {
	if d == nil || d.over {
		return
	}
	d.over = true
	d.line.Outcome = how
	d.line.Time = d.came.UTC().Truncate(time.Microsecond)
	d.line.DurationMS = float64(time.Since(d.came).Microseconds()) / 1000
	d.w.ended(&d.line)
	d.w.write(d)
}
