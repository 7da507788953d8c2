//go:build dist

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolman/cmd/internal/engine"
	"toolman/cmd/internal/setup"
)

// This file is in no toolman that anybody runs. cmd/dist builds with it to have the manual pages and
// the completions of all commands written into a folder, whose name is the only argument.
//
// The pages hold the help texts as they are. Cobra's own generator reads them as Markdown, and so
// loses what stands in angle brackets or between underscores.
func init() {
	if err := writeDocs(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func writeDocs(dir string) error {
	epoch, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	f := new(engine.Flags)
	root := newRootCommand(f)
	addCommands(root, f)
	root.InitDefaultCompletionCmd()
	man, completions := filepath.Join(dir, "man"), filepath.Join(dir, "completions")
	for _, d := range []string{man, completions} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	if err := writePages(root, man, time.Unix(epoch, 0).UTC().Format(time.DateOnly)); err != nil {
		return err
	}
	for name, write := range map[string]func(path string) error{
		"toolman.bash": func(path string) error { return root.GenBashCompletionFileV2(path, true) },
		"_toolman":     root.GenZshCompletionFile,
		"toolman.fish": func(path string) error { return root.GenFishCompletionFile(path, true) },
		"toolman.ps1":  root.GenPowerShellCompletionFileWithDesc,
	} {
		if err := write(filepath.Join(completions, name)); err != nil {
			return err
		}
	}
	return nil
}

// writePages writes the page of a command, and those of its subcommands.
func writePages(cmd *cobra.Command, dir, date string) error {
	var out strings.Builder
	writePage(&out, cmd, date)
	if err := os.WriteFile(filepath.Join(dir, pageName(cmd)+".1"), []byte(out.String()), 0o644); err != nil {
		return err
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			if err := writePages(c, dir, date); err != nil {
				return err
			}
		}
	}
	return nil
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func writePage(out *strings.Builder, cmd *cobra.Command, date string) {
	cmd.InitDefaultHelpFlag()
	fmt.Fprintf(out, ".TH %s 1 %s \"toolman %s\" toolman\n", roff(strings.ToUpper(pageName(cmd))), date, setup.Version())
	fmt.Fprintf(out, ".SH NAME\n%s \\- %s\n", roff(pageName(cmd)), roff(cmd.Short))
	fmt.Fprintf(out, ".SH SYNOPSIS\n.B %s\n", roff(cmd.UseLine()))
	if cmd.Long != "" {
		out.WriteString(".SH DESCRIPTION\n")
		writeText(out, cmd.Long)
	}
	writeFlags(out, "OPTIONS", cmd.NonInheritedFlags())
	writeFlags(out, "OPTIONS OF ALL COMMANDS", cmd.InheritedFlags())
	if cmd.Example != "" {
		out.WriteString(".SH EXAMPLES\n")
		writeText(out, cmd.Example)
	}
	if cmd == cmd.Root() {
		out.WriteString(".SH DOCUMENTATION\n.B toolman help\nlists the pages of the documentation, which are in the program, and\n.B toolman help\n.I TOPIC\nprints one.\n")
	}
	var also []string
	if cmd.HasParent() {
		also = append(also, pageName(cmd.Parent()))
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			also = append(also, pageName(c))
		}
	}
	out.WriteString(".SH SEE ALSO\n")
	for i, name := range also {
		end := ","
		if i == len(also)-1 {
			end = ""
		}
		fmt.Fprintf(out, ".BR %s (1)%s\n", roff(name), end)
	}
}

// writeText writes a help text: indented lines as they are, and the others filled.
func writeText(out *strings.Builder, text string) {
	asIs := false
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		line = strings.TrimRight(line, "\n")
		indented := strings.HasPrefix(line, " ") || asIs && line == ""
		switch {
		case indented && !asIs:
			out.WriteString(".PP\n.nf\n")
		case !indented && asIs:
			out.WriteString(".fi\n.PP\n")
		}
		asIs = indented
		if line == "" && !asIs {
			out.WriteString(".PP\n")
		} else {
			out.WriteString(roff(line) + "\n")
		}
	}
	if asIs {
		out.WriteString(".fi\n")
	}
}

func writeFlags(out *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(out, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "\\fB" + roff("--"+f.Name) + "\\fR"
		if f.Shorthand != "" {
			name = "\\fB" + roff("-"+f.Shorthand) + "\\fR, " + name
		}
		if value != "" {
			name += " \\fI" + roff(value) + "\\fR"
		}
		fmt.Fprintf(out, ".TP\n%s\n%s", name, roff(usage))
		if d := f.DefValue; d != "" && d != "false" && d != "[]" && d != "0" && d != "0s" {
			fmt.Fprintf(out, " (default %s)", roff(d))
		}
		out.WriteString("\n")
	})
}

// roff writes a line so that it is shown as it is.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", "\\(ga", "^", `\(ha`, "~", `\(ti`, "\t", "    ").Replace(line)
	if strings.HasPrefix(line, ".") {
		line = `\&` + line
	}
	return line
}
