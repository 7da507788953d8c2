package usage

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/auditlog"
	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/setup"
)

const help = `usage reads the audit log and the files beside it that it was rotated to, and prints how tools
were used: by tool, by agent and by toolset.

For each it prints the calls, those that failed, those that toolman refused, how long clients
waited (half of them at most p50, 95 % of them at most p95), the bytes of requests and answers,
and when the last call was.`

const example = `  toolman usage                               everything in audit_log of tools.toml
  toolman usage --since 7d --by tool          the tools of the last week
  toolman usage --log audit.jsonl --json      another log, as JSON`

// A command is toolman usage with its flags.
type command struct {
	*cobra.Command
	flags  *setup.Flags
	log    string
	by     string
	since  string
	asJSON bool
}

// New returns the command usage.
func New(flags *setup.Flags) *cobra.Command {
	c := &command{flags: flags}
	c.Command = &cobra.Command{
		Use: "usage", Short: "Print how tools are used, from the audit log", Long: help, Example: example, Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error { return c.run(time.Now()) },
	}
	c.Flags().StringVar(&c.log, "log", "", "the audit log, a `file`; without this, audit_log of tools.toml")
	c.Flags().StringVar(&c.by, "by", strings.Join(groups(), ","), "count by `group`: tool, agent or toolset, or several with commas")
	c.Flags().StringVar(&c.since, "since", "", "only calls since this `time`, such as 24h, 7d, 2026-01-31 or 2026-01-31T12:00:00Z")
	c.Flags().BoolVar(&c.asJSON, "json", false, "print JSON")
	return c.Command
}

func (c *command) run(now time.Time) error {
	by := strings.Split(c.by, ",")
	for _, group := range by {
		if !slices.Contains(groups(), group) {
			return cli.Usage(fmt.Errorf("--by cannot be %q", group), cli.DidYouMean(group, groups(), "", "write tool, agent or toolset"))
		}
	}
	since, err := sinceOf(c.since, now)
	if err != nil {
		return err
	}
	if err := c.find(); err != nil {
		return err
	}
	files, err := auditlog.Files(c.log)
	if err != nil {
		return cli.Failed(fmt.Errorf("the audit log cannot be read: %w", err), "toolman creates it when it runs with audit_log; --log names another file")
	}
	counts := newCounts(by)
	sum, err := auditlog.Read(files, since, counts.add)
	if err != nil {
		return cli.Failed(err, "")
	}
	return c.print(by, &sum, counts)
}

// find sets log from the configuration, if it is not given.
func (c *command) find() error {
	if c.log != "" {
		return nil
	}
	config, err := c.flags.Load()
	if err != nil {
		return err
	}
	if c.log = config.AuditLog; c.log == "" {
		return cli.Failed(errors.New("there is no audit log to read"),
			`write audit_log = "audit.jsonl" in `+config.Path+` and use toolman for a while, or name a file with --log`)
	}
	return nil
}

// sinceOf reads --since: a duration before now, with d for days, or a time. "" is the zero time.
func sinceOf(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseFloat(days, 64); err == nil && n >= 0 && n < 100_000 {
			return now.Add(-time.Duration(n * 24 * float64(time.Hour))), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	if at, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return at, nil
	}
	return time.Time{}, cli.Usage(fmt.Errorf("--since cannot be %q", text), "write a duration such as 24h or 7d, a date such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z")
}
