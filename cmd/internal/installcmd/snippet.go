package installcmd

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"mvdan.cc/sh/v3/syntax"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/clients"
	"toolman/cmd/internal/clients/edit"
	"toolman/cmd/internal/clients/render"
	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/setup"
)

const snippetHelp = `snippet prints the entry that "toolman install" would write, as it stands in the client's
file. On standard error it says which file that is, and the client's own command that adds
the entry, if it has one. It changes nothing.`

func newSnippet(f *setup.Flags) *cobra.Command {
	o := options{flags: f}
	cmd := &cobra.Command{
		Use:     "snippet CLIENT",
		Short:   "Print the entry for an MCP client's configuration",
		Long:    snippetHelp + "\n\n" + clientList(),
		Example: "  toolman snippet cursor\n  toolman snippet vscode --scope project",
		Args:    cli.Args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.snippet(cmd.OutOrStdout(), cmd.ErrOrStderr(), args[0])
		},
		ValidArgsFunction: completeClients,
	}
	o.add(cmd)
	return cmd
}

func (o *options) snippet(out, errOut io.Writer, client string) error {
	c, err := clients.ByName(client)
	if err != nil {
		return err
	}
	here, err := o.here()
	if err != nil {
		return err
	}
	f := clients.File{Client: c, Format: edit.JSON, Keys: []string{"mcpServers"}}
	if c.Writable() {
		if f, err = c.Target(here.place, here.scope); err != nil {
			return err
		}
	}
	t := here.toolman(c, cmp.Or(o.name, "toolman"))
	spot := f.Spot()
	spot.Create = ""
	text, _, problem := spot.Set(nil, t.Name, f.Entry(t))
	if problem != nil {
		return problem
	}
	if f.Path != "" {
		fmt.Fprintf(errOut, "%s reads %s:\n", c.Title, f.Path)
	} else {
		fmt.Fprintf(errOut, "%s: %s:\n", c.Title, c.Note)
	}
	fmt.Fprintf(out, "%s", text)
	if line := commandLine(c, f, t); line != "" && here.scope == clients.User {
		fmt.Fprintf(errOut, "or run:\n%s\n", line)
	}
	if f.Path != "" {
		for _, note := range c.Notes(here.scope) {
			fmt.Fprintf(errOut, "note: %s\n", note)
		}
	}
	return nil
}

// commandLine returns the client's own command that adds the entry, or "".
func commandLine(c *clients.Client, f clients.File, t clients.Toolman) string {
	if c.CLI == "" {
		return ""
	}
	var words []string
	for _, word := range strings.Fields(c.CLI) {
		switch word {
		case "NAME":
			words = append(words, Quote(t.Name))
		case "COMMAND":
			words = append(words, Quote(t.Command))
		case "ARGS":
			for _, a := range t.Args {
				words = append(words, Quote(a))
			}
		case "JSON":
			words = append(words, Quote(render.Layout{Compact: true}.JSON(source.Node{Value: f.Entry(t)}, "")))
		case "NAMED":
			named := append([]source.Member{{Key: "name", Node: source.Node{Value: t.Name}}}, f.Entry(t)...)
			words = append(words, Quote(render.Layout{Compact: true}.JSON(source.Node{Value: named}, "")))
		default:
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// Quote returns a word as a shell reads it.
func Quote(word string) string {
	quoted, err := syntax.Quote(word, syntax.LangPOSIX)
	if err != nil {
		return word
	}
	return quoted
}
