package check

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/junit"
	"toolman/cmd/internal/traces/calls"
	"toolman/cmd/internal/traces/files"
	"toolman/mcpwire/sanitize"
)

const help = `check finds what went wrong in a trace. The exit code is that of the most severe finding:

%s
   0  nothing was found      1  the trace cannot be read      2  wrong use

--max bounds a figure of every tool whose name matches: count, errors, p50, p90, p95, p99 and max of
the duration, own (the longest time in toolman itself) and bytes (of all its messages together):
--max 'p95:fs_*<200ms', --max 'errors<=0', --max 'bytes:gh_search<2MB'.

Messages are also held against the official JSON Schema of the revision that was negotiated, if
there are schemas: REVISION.json in --schema, in TOOLMAN_MCP_SCHEMAS, or in the cache, into which
--fetch-schema downloads them. Messages that the trace has in part or with placeholders are not.
Formats, such as uri, are not checked.

The filters of toolman trace select the calls and messages.`

const example = `  toolman trace check session.jsonl --max 'p95:fs_*<200ms' --junit report.xml
  toolman trace check session.jsonl --fetch-schema
  toolman trace check --last --json tool:gh_*`

type flags struct {
	schemas, junit    string
	fetch, last, json bool
	max               []string
}

// New returns the command check.
func New() *cobra.Command {
	var f flags
	var kinds strings.Builder
	for _, k := range Kinds {
		fmt.Fprintf(&kinds, "  %2d  %-9s  %s\n", k.Code, k.Name, k.What)
	}
	cmd := &cobra.Command{
		Use:     "check FILE [filter]...",
		Short:   "Find errors, hung calls, protocol violations and exceeded budgets, for CI",
		Long:    fmt.Sprintf(help, kinds.String()),
		Example: example,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && !f.last {
				return cli.Usage(errors.New("check needs the name of a trace"), "toolman trace check FILE; toolman trace list lists traces without a file")
			}
			return nil
		},
		RunE: f.run,
	}
	cmd.Flags().StringArrayVar(&f.max, "max", nil, "a `budget`, such as 'p95:fs_*<200ms'")
	cmd.Flags().StringVar(&f.schemas, "schema", "", "the `directory` with the schemas")
	cmd.Flags().BoolVar(&f.fetch, "fetch-schema", false, "download the official schemas into the cache first")
	cmd.Flags().StringVar(&f.junit, "junit", "", "write a report in JUnit XML to this `file`")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&f.last, "last", false, "the newest trace that was given no file, in place of FILE")
	return cmd
}

func (f *flags) run(cmd *cobra.Command, args []string) error {
	k := &checker{}
	for _, text := range f.max {
		b, err := parseBudget(text)
		if err != nil {
			return cli.Usage(fmt.Errorf("--max %q: %w", text, err), "write for example --max 'p95:fs_*<200ms' or --max 'errors<=0'")
		}
		k.budgets = append(k.budgets, b)
	}
	name := ""
	if !f.last {
		name, args = args[0], args[1:]
	}
	var err error
	if k.filter, err = calls.ParseFilter(args); err != nil {
		return err
	}
	if err := f.prepare(cmd, k); err != nil {
		return err
	}
	path, err := files.Resolve(name, f.last)
	if err != nil {
		return err
	}
	in, err := files.Open(cmd.Context(), path, cmd.InOrStdin())
	if err != nil {
		return err
	}
	defer in.Close()
	if err := k.check(in); err != nil {
		return cli.Failed(fmt.Errorf("checking %s: %w", path, err), "check the file and the schemas")
	}
	if k.run == 0 && k.bad > 0 {
		return files.NotTrace(path)
	}
	result := k.result(path)
	k.remarks(cmd.ErrOrStderr(), result)
	if f.junit != "" {
		if err := report(result, k.budgets).WriteFile(f.junit); err != nil {
			return cli.Failed(err, "name another file for --junit")
		}
	}
	if f.json {
		_, err = cmd.OutOrStdout().Write(cli.IndentedJSON(result))
	} else {
		err = printed(cmd.OutOrStdout(), result)
	}
	if err == nil && result.Exit != 0 {
		err = &cli.Error{Err: fmt.Errorf("%s: %s", path, summary(result)), Code: result.Exit, Hint: "toolman trace " + path + " -v shows the calls; toolman trace check --help lists the exit codes"}
	}
	return err
}

// prepare finds the schemas.
func (f *flags) prepare(cmd *cobra.Command, k *checker) (err error) {
	if f.fetch {
		dir := f.schemas
		if dir == "" {
			if dir, err = cacheDir(); err != nil {
				return cli.Failed(err, "--schema names a directory")
			}
		}
		if err := newFetcher().fetch(cmd.Context(), dir); err != nil {
			return cli.Failed(fmt.Errorf("--fetch-schema: %w", err), "try again, or put the schemas as REVISION.json into the directory of --schema")
		}
		f.schemas = dir
	}
	if k.source, err = sourceOf(f.schemas); err != nil {
		return cli.Usage(err, "--schema and "+env+" name a directory with the files REVISION.json")
	}
	return nil
}

// remarks says what was not checked.
func (k *checker) remarks(to io.Writer, r *Result) {
	r.Unchecked = slices.Sorted(maps.Keys(k.unchecked))
	for i, revision := range r.Unchecked {
		if revision == "" {
			r.Unchecked[i] = "unknown"
		}
	}
	if len(r.Unchecked) > 0 {
		fmt.Fprintf(to, "toolman: no schema for messages of the revision %s: only their order and IDs are checked; --fetch-schema downloads the official schemas\n", sanitize.Line(strings.Join(r.Unchecked, ", ")))
	}
	for _, b := range k.budgets {
		if !b.tested {
			fmt.Fprintf(to, "toolman: --max %s is about no tool in the trace\n", b.text)
		}
	}
	if k.bad > 0 {
		fmt.Fprintf(to, "toolman: %s no trace record and left out\n", cli.CountIs(k.bad, "line"))
	}
}

func printed(out io.Writer, r *Result) error {
	for _, f := range r.Findings {
		if _, err := fmt.Fprintln(out, f); err != nil {
			return err
		}
	}
	if len(r.Findings) == 0 {
		_, err := fmt.Fprintf(out, "%s: nothing was found\n", cli.Count(r.Calls, "call"))
		return err
	}
	return nil
}

// summary counts the findings by kind.
func summary(r *Result) string {
	var parts []string
	for _, k := range Kinds {
		if n := r.Counts[k.Name]; n > 0 {
			parts = append(parts, fmt.Sprint(k.Name, " ", n))
		}
	}
	return strings.Join(parts, ", ")
}

// report returns a test case for each kind of finding, and for each budget.
func report(r *Result, budgets []*budget) *junit.Suite {
	s := &junit.Suite{Name: "toolman trace check " + r.File}
	add := func(name string, of func(*Finding) bool) {
		var lines []string
		for _, f := range r.Findings {
			if of(f) {
				lines = append(lines, f.String())
			}
		}
		s.Cases = append(s.Cases, junit.Case{Class: "trace", Name: name, Failure: strings.Join(lines, "\n")})
	}
	for _, k := range Kinds {
		if k.Name != "budget" {
			add(k.Name, func(f *Finding) bool { return f.Kind == k.Name })
		}
	}
	for _, b := range budgets {
		add("--max "+b.text, func(f *Finding) bool { return f.Kind == "budget" && strings.HasSuffix(f.Text, "--max "+b.text) })
	}
	return s
}
