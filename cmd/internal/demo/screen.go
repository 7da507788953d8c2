package demo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traces/printer"
	"toolman/jsonrpc/trace"
	"toolman/mcpwire/system"
)

const (
	indent     = "  "
	usualWidth = 100         // where there is no terminal
	label      = "client > " // what a Printer puts before a message, without the time
)

// A screen is the output of the demo: a terminal, or anything else as if it were 100 columns wide.
type screen struct {
	out     io.Writer
	color   bool
	width   int
	printer *printer.Printer
}

func newScreen(out io.Writer) *screen {
	s := &screen{out: out, color: cli.HasColors(out), width: columns(out)}
	s.printer = printer.NewPrinter(wireWriter{out}, printer.PrinterOptions{Frames: true, Color: s.color})
	return s
}

func columns(out io.Writer) int {
	const least, most = 60, 160
	if f, ok := out.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return min(max(width, least), most)
		}
	}
	return usualWidth
}

// wireWriter receives a Printer's lines, one at a time, and replaces the time, which differs in
// each run, by the indent.
type wireWriter struct{ out io.Writer }

func (w wireWriter) Write(p []byte) (int, error) {
	_, line, _ := bytes.Cut(p, []byte(" "))
	_, err := w.out.Write(append([]byte(indent), line...))
	return len(p), err
}

// wire shows a frame or an event as toolman trace --frames does, in one line of the screen.
func (s *screen) wire(r *trace.Record) error {
	const widest = 11 // IDs on an upstream's leg are random: what is cut must not depend on them
	room := s.width - len(indent+label)
	if r.Leg == trace.Upstream {
		room -= max(0, widest-len(r.ID))
	}
	short := *r
	if r.Msg != nil {
		short.Msg = []byte(shorten(r.Msg, room))
	}
	err := s.printer.Print(&short)
	if system.Closed(err) {
		return errClosed
	}
	return err
}

// errClosed reports that the output is closed.
var errClosed = errors.New("the output is closed")

// headline prints the title of a step.
func (s *screen) headline(n int, title string) {
	fmt.Fprintf(s.out, "\n%s\n", s.paint(cli.Bold, s.fold(fmt.Sprintf("%d. %s", n, title), indent)))
}

// paragraph prints running text.
func (s *screen) paragraph(text string) { fmt.Fprintln(s.out, s.fold(text, "")) }

// say prints running text that belongs to a step.
func (s *screen) say(text string) {
	fmt.Fprintln(s.out, indent+s.fold(text, indent))
}

// quote prints lines, cut to the width of the screen.
func (s *screen) quote(lines string) {
	const in = indent + indent
	for line := range strings.Lines(lines) {
		fmt.Fprintln(s.out, in+s.paint(cli.Faint, cut(strings.TrimRight(line, "\n"), s.width-len(in))))
	}
}

func (s *screen) paint(color, text string) string { return cli.Paint(s.color, color, text) }

// fold breaks text between words. Lines after the first begin with in.
func (s *screen) fold(text, in string) string {
	width := min(s.width, usualWidth)
	var b strings.Builder
	at := len(in)
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case at+1+runes(word) > width:
			b.WriteString("\n" + in)
			at = len(in)
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += runes(word)
	}
	return b.String()
}

// opening introduces the demo and its tools.toml.
func (s *screen) opening(config string) {
	s.paragraph(`toolman is one MCP server in front of many. Here it runs in front of two small ones that are built in, notes and
		calc, and this demo is its client. Its tools.toml:`)
	fmt.Fprintln(s.out)
	s.quote(config)
	fmt.Fprintln(s.out)
	s.paragraph(`The messages are as toolman --trace shows them: > is into toolman, < out of it. "jsonrpc":"2.0" is left out, and …
		stands for what does not fit.`)
}

// closing lists what to do next.
func (s *screen) closing(name string) {
	fmt.Fprintf(s.out, "\n%s\n", s.paint(cli.Bold, "All of it was as expected. What next:"))
	for _, next := range [...]struct{ what, why string }{
		{name + " demo --serve", "notes and calc as one MCP server, to be tried in your own client"},
		{name + " demo --keep", "keeps the trace of a demo; " + name + " trace shows what took how long"},
		{name + " check", "starts what your own tools.toml names, and says how it is"},
		{name + " help configuration", "every key of tools.toml; " + name + " help lists all topics"},
	} {
		fmt.Fprintf(s.out, "%s%-*s  %s\n", indent, len(name+" help configuration"), next.what, next.why)
	}
}

// failed prints the end of the gateway's log.
func (s *screen) failed(log *os.File) {
	const most = 4 << 10
	text, err := os.ReadFile(log.Name())
	if err != nil {
		return // the step's error is reported
	}
	fmt.Fprintln(s.out)
	s.paragraph("The gateway's log:")
	s.quote(string(text[max(0, len(text)-most):]))
}
