package engine

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/traceview"
	"toolman/mcpwire/sanitize"
	"toolman/router"
	"toolman/router/upstream"
)

const (
	progressTick  = 100 * time.Millisecond
	progressDelay = 300 * time.Millisecond // no table is shown if all servers are ready before
	lastOutput    = 200                    // runes of a server's last line
)

// A Progress shows on standard error how servers start, while a command waits for them. A terminal
// shows a table with a line for each server until all have started. Other outputs get a line
// when a server becomes ready, ends or is late.
type Progress struct {
	out     io.Writer
	live    bool     // out is a terminal
	rows    int      // of the terminal
	quiet   bool     // if not live, report only servers that are late
	secrets []string // not shown

	servers []startup // in the order of the file

	mu    sync.Mutex
	lines int // guarded by mu: of the table above the terminal's cursor
}

// A startup is the last reported state of a server.
type startup struct {
	state upstream.State
	took  time.Duration // until it was ready or gone
	late  bool
}

// NewProgress returns a Progress that writes to out.
func NewProgress(out *os.File, secrets []string, quiet bool) *Progress {
	p := &Progress{out: out, live: traceview.Terminal(out), quiet: quiet, secrets: secrets}
	if _, rows, err := term.GetSize(int(out.Fd())); p.live && err == nil {
		p.rows = rows
	}
	return p
}

// Follow shows how the servers start, until the router waits for none of them. It fails if ctx
// ends first.
func (p *Progress) Follow(ctx context.Context, r *router.Router) error {
	defer p.clear()
	tick := time.NewTicker(progressTick)
	defer tick.Stop()
	for begun := time.Now(); ; {
		p.show(Statuses(r, p.secrets), time.Since(begun))
		select {
		case <-tick.C:
		case <-r.Started():
			p.show(Statuses(r, p.secrets), time.Since(begun))
			return nil
		case <-ctx.Done():
			return cli.Failed(fmt.Errorf("ended before the servers were ready: %w", context.Cause(ctx)), "")
		}
	}
}

// show shows the servers' states after waiting for them that long.
func (p *Progress) show(all []upstream.Status, waited time.Duration) {
	if p.servers == nil {
		p.servers = make([]startup, len(all))
	}
	var text []string
	for i := range all {
		text = append(text, p.changes(&p.servers[i], &all[i], waited)...)
	}
	if !p.live {
		io.WriteString(p.out, strings.Join(text, ""))
	} else if waited >= progressDelay {
		p.paint(p.table(all, waited))
	}
}

// changes records a server's state and returns a line if it is to be reported.
func (p *Progress) changes(s *startup, st *upstream.Status, waited time.Duration) (lines []string) {
	name := sanitize.Line(st.Name)
	switch {
	case st.State != s.state:
		if s.took = waited; st.State == upstream.Ready {
			s.took = st.Took
		}
		s.state = st.State
		if st.State == upstream.Apart || p.quiet && !s.late {
			return nil
		}
		line := fmt.Sprintf("toolman: server %s is %s after %s", name, st.State, Seconds(s.took))
		if st.State == upstream.Gone {
			line += ": " + sanitize.Line(st.Problem)
		}
		return []string{line + "\n"}
	case st.State == upstream.Starting && !s.late && waited >= st.StartTimeout:
		s.late = true
		line := fmt.Sprintf("toolman: server %s is not ready within its start_timeout of %s", name, st.StartTimeout)
		if st.Patience > st.StartTimeout {
			line += fmt.Sprintf("; waiting for it up to %s", st.Patience)
		}
		if words := last(st.Stderr); words != "" {
			line += "; it last wrote: " + words
		}
		return []string{line + "\n"}
	}
	return nil
}

// table returns a line for each server. If the terminal is too small, it lists starting servers
// first and cuts the rest.
func (p *Progress) table(all []upstream.Status, waited time.Duration) (lines []string) {
	width := 0
	for _, st := range all {
		width = max(width, len(st.Name))
	}
	var starting, others []string
	for i, st := range all {
		s := p.servers[i]
		took, words := s.took, ""
		switch st.State {
		case upstream.Starting:
			took, words = waited, last(st.Stderr)
		case upstream.Gone:
			words = sanitize.Line(st.Problem)
		}
		line := fmt.Sprintf("  %-*s  %-11s  %5.1f s  %s", width, sanitize.Line(st.Name), st.State, took.Seconds(), words)
		lines = append(lines, line)
		if st.State == upstream.Starting {
			starting = append(starting, line)
		} else {
			others = append(others, line)
		}
	}
	if most := p.rows - 2; p.rows > 2 && len(lines) > most {
		lines = slices.Concat(starting, others)[:most]
		lines = append(lines, fmt.Sprintf("  and %d more", len(all)-most))
	}
	return lines
}

// last returns the last line of a server's output, shortened.
func last(stderr string) string {
	words := []rune(sanitize.Line(stderr[strings.LastIndexByte(stderr, '\n')+1:]))
	return string(words[:min(len(words), lastOutput)])
}

// Escape sequences of terminals.
const (
	lineUp   = "\x1b[%dF" // to the beginning of a line above
	eraseAll = "\x1b[J"   // from the cursor to the end of the screen
	noWrap   = "\x1b[?7l" // long lines are cut off
	wrap     = "\x1b[?7h"
)

// paint replaces the table on the terminal.
func (p *Progress) paint(lines []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b bytes.Buffer
	p.eraseLocked(&b)
	p.lines = len(lines)
	if len(lines) > 0 {
		fmt.Fprintf(&b, "%s%s\n%s", noWrap, strings.Join(lines, "\n"), wrap)
	}
	p.out.Write(b.Bytes())
}

func (p *Progress) eraseLocked(b *bytes.Buffer) {
	if p.lines > 0 {
		fmt.Fprintf(b, lineUp+eraseAll, p.lines)
		p.lines = 0
	}
}

// clear removes the table from the terminal.
func (p *Progress) clear() { p.paint(nil) }

// Write writes whole lines, such as those of the log, above the table.
func (p *Progress) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b bytes.Buffer
	p.eraseLocked(&b)
	b.Write(text)
	_, err := p.out.Write(b.Bytes())
	return len(text), err
}

// Seconds formats a duration as in "0.80 s".
func Seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
