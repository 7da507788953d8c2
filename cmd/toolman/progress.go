package main

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

	"toolman/cmd/internal/traceview"
	"toolman/mcpwire/sanitize"
	"toolman/router"
)

const (
	progressTick  = 100 * time.Millisecond
	progressDelay = 300 * time.Millisecond // a terminal is left alone when all servers are ready before
	lastWords     = 200                    // runes of what a server has written last
)

// A progress shows on standard error how servers start, while a command waits for them. On a
// terminal there is a line for each server, until none is waited for any more. Elsewhere there is
// a line whenever a server has become ready or gone, or is late.
type progress struct {
	out     io.Writer
	live    bool     // out is a terminal
	rows    int      // of the terminal
	quiet   bool     // where it is not live, only servers that are late are mentioned
	secrets []string // that are not shown

	servers []startup // in the order of the file

	mu    sync.Mutex
	lines int // guarded by mu: those on the terminal, above the cursor
}

// A startup is what has been seen of a server.
type startup struct {
	state router.State
	took  time.Duration // until it was ready or gone
	late  bool
}

func newProgress(out *os.File, secrets []string, quiet bool) *progress {
	p := &progress{out: out, live: traceview.Terminal(out), quiet: quiet, secrets: secrets}
	if _, rows, err := term.GetSize(int(out.Fd())); p.live && err == nil {
		p.rows = rows
	}
	return p
}

// follow shows how the servers start, until none is waited for any more. It is an error if ctx
// ends before.
func (p *progress) follow(ctx context.Context, r *router.Router) error {
	defer p.clear()
	tick := time.NewTicker(progressTick)
	defer tick.Stop()
	for begun := time.Now(); ; {
		p.show(scrubbed(r, p.secrets), time.Since(begun))
		select {
		case <-tick.C:
		case <-r.Started():
			p.show(scrubbed(r, p.secrets), time.Since(begun))
			return nil
		case <-ctx.Done():
			return &exitError{fmt.Errorf("ended before the servers were ready: %w", context.Cause(ctx)), exitFailed, ""}
		}
	}
}

// show shows how the servers are, after they were waited for so long.
func (p *progress) show(all []router.Status, waited time.Duration) {
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

// changes notes how a server is now, and returns a line if there is something new.
func (p *progress) changes(s *startup, st *router.Status, waited time.Duration) (lines []string) {
	name := sanitize.Line(st.Name)
	switch {
	case st.State != s.state:
		if s.took = waited; st.State == router.Ready {
			s.took = st.Took
		}
		s.state = st.State
		if st.State == router.Apart || p.quiet && !s.late {
			return nil
		}
		line := fmt.Sprintf("toolman: server %s is %s after %s", name, st.State, seconds(s.took))
		if st.State == router.Gone {
			line += ": " + sanitize.Line(st.Problem)
		}
		return []string{line + "\n"}
	case st.State == router.Starting && !s.late && waited >= st.StartTimeout:
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

// table is a line for each server, as far as they fit the terminal. Those that are still starting
// come first if they do not.
func (p *progress) table(all []router.Status, waited time.Duration) (lines []string) {
	width := 0
	for _, st := range all {
		width = max(width, len(st.Name))
	}
	var starting, others []string
	for i, st := range all {
		s := p.servers[i]
		took, words := s.took, ""
		switch st.State {
		case router.Starting:
			took, words = waited, last(st.Stderr)
		case router.Gone:
			words = sanitize.Line(st.Problem)
		}
		line := fmt.Sprintf("  %-*s  %-11s  %5.1f s  %s", width, sanitize.Line(st.Name), st.State, took.Seconds(), words)
		lines = append(lines, line)
		if st.State == router.Starting {
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

// last is the last line of what a server has written, as far as it is shown.
func last(stderr string) string {
	words := []rune(sanitize.Line(stderr[strings.LastIndexByte(stderr, '\n')+1:]))
	return string(words[:min(len(words), lastWords)])
}

// Escape sequences of terminals.
const (
	lineUp   = "\x1b[%dF" // to the beginning of a line above
	eraseAll = "\x1b[J"   // from the cursor to the end of the screen
	noWrap   = "\x1b[?7l" // long lines are cut off
	wrap     = "\x1b[?7h"
)

// paint puts lines in the place of those on the terminal.
func (p *progress) paint(lines []string) {
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

func (p *progress) eraseLocked(b *bytes.Buffer) {
	if p.lines > 0 {
		fmt.Fprintf(b, lineUp+eraseAll, p.lines)
		p.lines = 0
	}
}

// clear takes the lines off the terminal.
func (p *progress) clear() { p.paint(nil) }

// Write writes a text of whole lines, such as a log's, above the lines on the terminal.
func (p *progress) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b bytes.Buffer
	p.eraseLocked(&b)
	b.Write(text)
	_, err := p.out.Write(b.Bytes())
	return len(text), err
}
