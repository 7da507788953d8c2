package audit

import (
	"bytes"

	"toolman/jsonrpc"
	"toolman/router/budget"
)

// A Recorder is called for requests with what they and their answers contain, for example to keep
// the latest. Like an Observer, it is called on the goroutines of the requests and must not block.
type Recorder interface {
	// Records reports whether the content of a request is kept for Record. It is called when a
	// decision begins.
	Records(*Line) bool
	// Record is called when such a decision is over. It may keep the Content, but not the Line.
	Record(*Line, *Content)
}

// A Program is who has sent a request, for a Recorder.
type Program struct {
	Tool          string // the server's own name for the tool that it calls
	Asked         string // the name in the request
	Principal     budget.Principal
	Name, Version string // its own, sanitized
	Modern        bool   // the request is of the modern era
}

// Content is what a request and its answer contain. It is without the values that are longer than
// MaxRecorded, or exceed what Options.Bytes allows in all.
type Content struct {
	Arguments []byte // nil: there are none, or they are too long
	Result    []byte // of the last answer
	Error     []byte // of the last answer: a JSON-RPC error
	Problem   string // why toolman itself has refused or failed the request; "": it has not

	ArgumentsCut, AnswerCut bool // too long

	bytes int64 // in Writer.bytes
}

// MaxRecorded is the length of the longest value in a Content.
const MaxRecorded = 64 << 10

// Record adds a Recorder to w and returns w. If w is nil, it returns a Writer that writes nothing.
// It is called at most once, before w is used.
func Record(w *Writer, by Recorder) *Writer {
	if w == nil {
		w = new(Writer)
	}
	w.recorder = by
	return w
}

// Writes reports whether w writes a log.
func (w *Writer) Writes() bool { return w != nil && w.out != nil }

// Recorded reports whether w has a Recorder. Only then does a Line need its Program.
func (w *Writer) Recorded() bool { return w != nil && w.recorder != nil }

// record begins the Content of a request.
func (d *Decision) record(arguments []byte) {
	if d.w.recorder == nil || !d.w.recorder.Records(&d.line) {
		return
	}
	d.content = &Content{}
	d.content.Arguments, d.content.ArgumentsCut = d.keep(arguments)
}

// keep returns a copy of a value, if it is not too long.
func (d *Decision) keep(value []byte) (kept []byte, cut bool) {
	n := int64(len(value))
	switch {
	case n == 0:
		return nil, false
	case n > MaxRecorded:
		return nil, true
	case d.w.recorded.Add(n) > maxRecordedBytes:
		d.w.recorded.Add(-n)
		return nil, true
	}
	d.content.bytes += n
	return bytes.Clone(value), false
}

// maxRecordedBytes bounds the contents of all requests that are not over.
const maxRecordedBytes = 32 << 20

// Answered records the server's answer, and counts its bytes.
func (d *Decision) Answered(m *jsonrpc.Message) {
	if d == nil {
		return
	}
	d.line.AnswerBytes += len(m.Frame)
	if d.content == nil {
		return
	}
	if m.Err.Present() {
		d.answer(&d.content.Error, m.Bytes(m.Err))
	} else {
		d.answer(&d.content.Result, m.Bytes(m.Result))
	}
}

// FromCache records an earlier answer of the server, which was not asked.
func (d *Decision) FromCache(m *jsonrpc.Message) {
	if d != nil {
		n := d.line.AnswerBytes
		d.Answered(m)
		d.line.Cached, d.line.AnswerBytes = true, n
	}
}

// Replied records a result of toolman's own.
func (d *Decision) Replied(result []byte) {
	if d != nil && d.content != nil {
		d.answer(&d.content.Result, result)
	}
}

// answer replaces the answer in the content.
func (d *Decision) answer(to *[]byte, value []byte) {
	c := d.content
	n := int64(len(c.Result) + len(c.Error))
	c.bytes -= n
	d.w.recorded.Add(-n)
	c.Result, c.Error = nil, nil
	*to, c.AnswerCut = d.keep(value)
}

// Fail is End for a request that toolman itself answers with an error. problem says why; with "" it
// is End.
func (d *Decision) Fail(how Outcome, problem string) {
	if d != nil && d.content != nil && !d.over {
		d.content.Problem = problem
	}
	d.End(how)
}

// recorded gives the content of a request that is over to the Recorder.
func (d *Decision) recorded() {
	if c := d.content; c != nil {
		d.content = nil
		d.w.recorded.Add(-c.bytes)
		d.w.recorder.Record(&d.line, c)
	}
}
