package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/store/catalogs"
	"toolman/mcpwire"
	"toolman/mcpwire/sanitize"
)

const cacheHelp = `The catalog cache has what each server offered when it last ran. With it toolman answers
the first list of a client at once, while the servers still start. See "toolman help
servers".

The cache may be removed at any time: toolman fills it again.`

func newCacheCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cache",
		Short: "Show or clear what is kept of servers between runs",
		Long:  cacheHelp,
		Args:  cli.NoCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newCacheListCommand(), newCacheClearCommand())
	return cmd
}

func newCacheListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Print the servers in the catalog cache",
		Args:  cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			folder, err := catalogs.Open()
			if err != nil {
				return cli.Failed(err, "set HOME or XDG_CACHE_HOME")
			}
			all, err := folder.Entries()
			if err != nil {
				return cli.Failed(err, "")
			}
			if asJSON {
				return printCacheJSON(cmd.OutOrStdout(), all)
			}
			return printCache(cmd.OutOrStdout(), all, time.Now())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newCacheClearCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "clear [SERVER…]",
		Short:   "Remove servers from the catalog cache; without names, all",
		Example: "  toolman cache clear\n  toolman cache clear fs git",
		Args:    cli.Args(0, 1000),
		RunE: func(cmd *cobra.Command, servers []string) error {
			folder, err := catalogs.Open()
			if err != nil {
				return cli.Failed(err, "set HOME or XDG_CACHE_HOME")
			}
			n, err := folder.Clear(servers...)
			if err != nil {
				return cli.Failed(err, "")
			}
			if n == 0 && len(servers) > 0 {
				return cli.Failed(errors.New("the catalog cache has no server "+strings.Join(servers, ", ")), "toolman cache list shows what it has")
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "removed %s from %s\n", files(n), folder.Path())
			return err
		},
	}
}

func files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}

// printCacheJSON prints entries as JSON.
func printCacheJSON(out io.Writer, all []*catalogs.Entry) error {
	type entry struct {
		Server    string    `json:"server"`
		Client    string    `json:"client"`
		Tools     int       `json:"tools"`
		Resources int       `json:"resources"`
		Templates int       `json:"templates"`
		Prompts   int       `json:"prompts"`
		Bytes     int64     `json:"bytes"`
		Checked   time.Time `json:"checked"`
		Config    string    `json:"config"`
	}
	list := []entry{}
	for _, e := range all {
		list = append(list, entry{e.Server, e.Name, e.Items[mcpwire.Tool], e.Items[mcpwire.Resource], e.Items[mcpwire.Template], e.Items[mcpwire.Prompt],
			e.Size, e.Checked.UTC().Truncate(time.Second), e.Config})
	}
	_, err := out.Write(cli.IndentedJSON(list))
	return err
}

// printCache prints entries as a table.
func printCache(out io.Writer, all []*catalogs.Entry, now time.Time) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(out, "the catalog cache is empty")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "SERVER\tTOOLS\tRESOURCES\tTEMPLATES\tPROMPTS\tBYTES\tAGE\tCLIENT\tCONFIGURATION")
	for _, e := range all {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t%s\n", sanitize.Line(e.Server), e.Items[mcpwire.Tool], e.Items[mcpwire.Resource], e.Items[mcpwire.Template],
			e.Items[mcpwire.Prompt], e.Size, age(now.Sub(e.Checked)), sanitize.Short(cmp.Or(e.Name, "-")), sanitize.Line(e.Config))
	}
	return w.Flush()
}

// age returns a duration in its largest unit.
func age(d time.Duration) string {
	switch {
	case d >= 24*time.Hour:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	case d >= time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	case d >= time.Minute:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	}
	return fmt.Sprintf("%ds", int(max(0, d).Seconds()))
}
