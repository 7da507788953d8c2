package engine

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"toolman/cmd/internal/cli"
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
	*cli.Live
	quiet   bool     // unless it is a terminal, report only servers that are late
	secrets []string // not shown

	servers []startup // in the order of the file
}

// A startup is the last reported state of a server.
type startup struct {
	state upstream.State
	took  time.Duration // until it was ready or gone
	late  bool
}

// NewProgress returns a Progress that writes to out.
func NewProgress(out *os.File, secrets []string, quiet bool) *Progress {
	return &Progress{Live: cli.NewLive(out), quiet: quiet, secrets: secrets}
}

// Follow shows how the servers start, until the router waits for none of them. It fails if ctx
// ends first.
func (p *Progress) Follow(ctx context.Context, r *router.Router) error {
	defer p.Draw(nil)
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
	if !p.Terminal {
		io.WriteString(p.Out, strings.Join(text, ""))
	} else if waited >= progressDelay {
		p.Draw(p.table(all, waited))
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
		if st.State == upstream.PerSession || p.quiet && !s.late {
			return nil
		}
		if st.Login != "" {
			return []string{fmt.Sprintf("toolman: server %s is not available: %s\n", name, sanitize.Line(st.Problem))}
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
		line := fmt.Sprintf("  %-*s  %-11s  %5.1f s  %s", width, sanitize.Line(st.Name), st.StateName(), took.Seconds(), words)
		lines = append(lines, line)
		if st.State == upstream.Starting {
			starting = append(starting, line)
		} else {
			others = append(others, line)
		}
	}
	if most := p.Rows - 2; p.Rows > 2 && len(lines) > most {
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

// Seconds formats a duration as in "0.80 s".
func Seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
