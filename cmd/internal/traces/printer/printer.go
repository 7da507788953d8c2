package printer

import (
	"io"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces/calls"
	"toolman/jsonrpc/trace"
	"toolman/jsonrpc/trace/filter"
)

// PrinterOptions choose what a Printer prints. The zero value is one line for each call.
type PrinterOptions struct {
	Frames  bool          // a line for every frame instead of one for every call
	Verbose bool          // payloads under calls, details under frames
	JSON    bool          // JSON lines instead of text
	Color   bool          // ANSI colours
	Filter  filter.Filter // applied to whole calls, or with Frames to each frame
}

// A Printer prints the records of a trace. It is not safe for concurrent use.
type Printer struct {
	out    io.Writer
	opts   PrinterOptions
	calls  *calls.Assembler
	width  int  // of the widest peer's name so far
	headed bool // header was called
	err    error
	buf    []byte
}

// NewPrinter returns a Printer that writes to out, once for each record.
func NewPrinter(out io.Writer, o PrinterOptions) *Printer {
	p := &Printer{out: out, opts: o, width: len(trace.Client)}
	p.calls = calls.NewAssembler(o.Filter, o.Verbose && !o.Frames, p.call)
	return p
}

// Print prints r itself, the calls that it ends, or nothing. It returns the first error of out.
func (p *Printer) Print(r *trace.Record) error {
	switch {
	case r.Type == trace.TypeSession:
		p.calls.Take(r)
		p.session(r)
	case p.opts.Frames:
		p.single(r)
	case r.Kind == trace.Notification:
		p.single(r)
		p.calls.Take(r)
	case p.calls.Take(r) == nil:
		p.single(r)
	}
	return p.flush()
}

// Close prints the calls that have no answer yet.
func (p *Printer) Close() error {
	p.calls.EndAll()
	return p.flush()
}

func (p *Printer) single(r *trace.Record) {
	if !p.opts.Filter.Match(p.opts.Filter.SubjectOf(r)) {
		return
	}
	switch {
	case p.opts.JSON:
		p.line(cleanJSON(r.Line))
	case p.opts.Frames:
		p.frameLine(r, "")
	default:
		p.header()
		p.row(recordRow(r, p.calls.Self()))
	}
}

func (p *Printer) call(c *calls.Call) {
	if p.opts.JSON {
		p.line(cleanJSON(c.JSON()))
		return
	}
	p.header()
	p.row(callRow(c))
	for _, r := range c.Records {
		p.frameLine(r, "        ")
	}
}

// line adds a finished line.
func (p *Printer) line(s string) {
	p.buf = append(append(p.buf, s...), '\n')
}

// paint returns text in a color, if colors are on.
func (p *Printer) paint(color, text string) string { return cli.Paint(p.opts.Color, color, text) }

func (p *Printer) flush() error {
	if len(p.buf) > 0 && p.err == nil {
		_, p.err = p.out.Write(p.buf)
	}
	p.buf = p.buf[:0]
	return p.err
}
