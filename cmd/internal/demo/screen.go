package demo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"golang.org/x/term"

	"toolman/cmd/internal/traceview"
	"toolman/jsonrpc/trace"
)

const (
	indent     = "  "
	usualWidth = 100         // where there is no terminal
	label      = "client > " // what a Printer puts before a message, without the time

	bold  = "\x1b[1m"
	faint = "\x1b[2m"
	plain = "\x1b[0m"
)

// A screen is where the demo is read: a terminal, or anything else as if it were 100 columns wide.
type screen struct {
	out     io.Writer
	color   bool
	width   int
	printer *traceview.Printer
}

func newScreen(out io.Writer) *screen {
	s := &screen{out: out, color: traceview.Colored(out), width: columns(out)}
	s.printer = traceview.NewPrinter(wireWriter{out}, traceview.PrinterOptions{Frames: true, Color: s.color})
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

// wireWriter takes a Printer's lines, which come one at a time, and puts the indent where the time is: it would say
// something else each time.
type wireWriter struct{ out io.Writer }

func (w wireWriter) Write(p []byte) (int, error) {
	_, line, _ := bytes.Cut(p, []byte(" "))
	_, err := w.out.Write(append([]byte(indent), line...))
	return len(p), err
}

// wire shows a frame or an event as toolman trace --frames does, in one line of the screen.
func (s *screen) wire(r *trace.Record) error {
	const widest = 11 // ids on an upstream's leg are random: what is left out should not depend on them
	room := s.width - len(indent+label)
	if r.Leg == trace.Upstream {
		room -= max(0, widest-len(r.ID))
	}
	short := *r
	if r.Msg != nil {
		short.Msg = []byte(shorten(r.Msg, room))
	}
	err := s.printer.Print(&short)
	if errors.Is(err, syscall.EPIPE) {
		return errUnseen
	}
	return err
}

// errUnseen says that nobody reads the screen any more.
var errUnseen = errors.New("the output is closed")

// headline says what comes next.
func (s *screen) headline(n int, title string) {
	fmt.Fprintf(s.out, "\n%s\n", s.paint(bold, s.fold(fmt.Sprintf("%d. %s", n, title), indent)))
}

// paragraph prints running text.
func (s *screen) paragraph(text string) { fmt.Fprintln(s.out, s.fold(text, "")) }

// say prints running text that belongs to a step.
func (s *screen) say(text string) {
	fmt.Fprintln(s.out, indent+s.fold(text, indent))
}

// quote prints lines as they are, as far as they fit.
func (s *screen) quote(lines string) {
	const in = indent + indent
	for line := range strings.Lines(lines) {
		fmt.Fprintln(s.out, in+s.paint(faint, cut(strings.TrimRight(line, "\n"), s.width-len(in))))
	}
}

func (s *screen) paint(color, text string) string {
	if !s.color || text == "" {
		return text
	}
	return color + text + plain
}

// fold breaks text between words, in lines that are easy to read; those but the first begin with in.
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
