package doctor

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/diagnosis"
	"toolman/cmd/internal/engine"
	"toolman/cmd/internal/report"
	"toolman/router/catalog"
)

// print writes the result for people.
func (res *result) print(out io.Writer) error {
	p := printer{out: out, colors: cli.HasColors(out)}
	p.line("toolman %s (%s)", res.Version, res.Program)
	if res.Config != "" {
		p.line("%s (%s)", res.Config, res.Why)
	}
	p.findings(res.Findings, func(f *diagnosis.Finding) bool { return f.Server == "" && f.Client == "" })
	width := 0
	for _, s := range res.Servers {
		width = max(width, len(s.Name))
	}
	for _, c := range res.Clients {
		width = max(width, len(c.Title))
	}
	if len(res.Servers) > 0 {
		p.line("\nServers")
	}
	for i := range res.Servers {
		s := &res.Servers[i]
		of := func(f *diagnosis.Finding) bool { return f.Server == s.Name }
		p.subject(res.worst(of), width, s.Name, state(s))
		p.findings(res.Findings, of)
	}
	if len(res.Clients) > 0 {
		p.line("\nClients")
	}
	for i := range res.Clients {
		c := &res.Clients[i]
		of := func(f *diagnosis.Finding) bool { return f.Client == c.ID }
		p.subject(res.worst(of), width, c.Title, c.state())
		p.findings(res.Findings, of)
	}
	problems := 0
	for _, f := range res.Findings {
		if f.Level == diagnosis.Problem {
			problems++
		}
	}
	if problems == 0 {
		p.line("\nNo problems.")
	} else {
		p.line("\n%s.", cli.Count(problems, "problem"))
	}
	return p.err
}

// state says in one line how a server is.
func state(s *report.Server) string {
	if !works(s) || s.Revision == "" {
		return s.State
	}
	return fmt.Sprintf("%s after %s, %s, about %d tokens, MCP %s", s.State, engine.Seconds(time.Duration(s.Millis)*time.Millisecond),
		cli.Count(s.Tools, "tool"), catalog.Tokens(s.Bytes), s.Revision)
}

// state says in one line whether toolman is registered.
func (c *client) state() string {
	var places []string
	for _, r := range c.Registered {
		places = append(places, fmt.Sprintf("%s as %s with %s", r.File, r.Name, cmp.Or(r.Config, "no tools.toml named")))
	}
	text := strings.Join(places, "; ")
	if text == "" {
		text = "toolman is not in " + cmp.Or(strings.Join(c.Files, ", "), "its configuration: there is no file")
	}
	if c.Version != "" {
		text = c.Version + ": " + text
	}
	return text
}

// worst returns the worst level among findings; "" if there are none.
func (res *result) worst(of func(*diagnosis.Finding) bool) (level diagnosis.Level) {
	for i := range res.Findings {
		if f := &res.Findings[i]; of(f) && level != diagnosis.Problem {
			level = f.Level
		}
	}
	return level
}

// A printer writes lines, and keeps the first error.
type printer struct {
	out    io.Writer
	colors bool
	err    error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format+"\n", args...)
	}
}

// mark returns the sign and the color of a level.
func mark(level diagnosis.Level) (sign, color string) {
	switch level {
	case diagnosis.Problem:
		return "!", cli.Red
	case diagnosis.Note:
		return "-", cli.Yellow
	}
	return " ", cli.Green
}

func (p *printer) subject(worst diagnosis.Level, width int, name, state string) {
	sign, color := mark(worst)
	p.line("%s %s  %s", cli.Paint(p.colors, color, sign), cli.Paint(p.colors, cli.Bold, fmt.Sprintf("%-*s", width, name)), state)
}

func (p *printer) findings(all []diagnosis.Finding, of func(*diagnosis.Finding) bool) {
	for i := range all {
		f := &all[i]
		if !of(f) {
			continue
		}
		_, color := mark(f.Level)
		p.line("    %s: %s", cli.Paint(p.colors, color, f.ID), strings.ReplaceAll(f.Summary, "\n", "\n    "))
		if f.Fix != "" {
			p.line("      %s %s", cli.Paint(p.colors, cli.Faint, "fix:"), f.Fix)
		}
	}
}
