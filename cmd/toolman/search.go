package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/engine"
	"toolman/mcpwire/sanitize"
	"toolman/router"
	"toolman/router/catalog"
	"toolman/router/httpd/bridge"
	"toolman/router/upstream"
)

// A foundItem is an item as toolman search --json prints it.
type foundItem struct {
	Name        string `json:"name"`
	Kind        string `json:"kind"`
	Server      string `json:"server"`
	Active      bool   `json:"active"` // at start
	Tokens      int    `json:"tokens_estimate"`
	Description string `json:"description,omitempty"`
}

func newSearchCommand(f *engine.Flags) *cobra.Command {
	var limit int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "search WORDS…",
		Short: "Find tools, resources and prompts by what they do",
		Long: `search prints the items of the servers of tools.toml that fit the words best, of those that
the agent may have: one a line, the name first, the best first. It takes the items from the
catalog cache, and starts only the servers that this does not know. toolman_search ranks the
same way for models. The exit code is 1 if nothing fits.`,
		Example: `  toolman search read a file
  toolman search "create a pull request" --limit 3 --json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			words := strings.TrimSpace(strings.Join(args, " "))
			switch {
			case words == "":
				return cli.Usage(fmt.Errorf("there are no words to search for"), `write toolman search WORDS…, as in: toolman search create an issue`)
			case limit < 1 || limit > 100:
				return cli.Usage(fmt.Errorf("--limit %d cannot be", limit), "write a number from 1 to 100")
			}
			return useWith(f, cmd, "", fromCache, func(_ context.Context, r *router.Router, l *bridge.Local) error {
				noteServers(cmd.ErrOrStderr(), r)
				found, err := l.Search(words, limit)
				if err != nil {
					return err
				}
				if asJSON {
					cmd.OutOrStdout().Write(cli.IndentedJSON(foundItems(found)))
				} else {
					printFound(cmd.OutOrStdout(), foundItems(found))
				}
				if len(found) == 0 {
					return cli.Failed(fmt.Errorf("nothing fits these words"), "use others, or fewer; toolman check lists the servers, toolman tools the tools")
				}
				return nil
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 10, "print at most `N` items, up to 100")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	f.AddTask(cmd)
	return cmd
}

// fromCache has the router offer what the catalog cache knows, and start the other servers only.
func fromCache(o *router.Options) {
	o.Recall = true
	for i := range o.Servers {
		o.Servers[i].Lazy = true
	}
}

// noteServers says which servers were not asked, and which are not searched.
func noteServers(errOut io.Writer, r *router.Router) {
	names := map[upstream.State][]string{}
	for _, s := range r.Upstreams() {
		names[s.State] = append(names[s.State], sanitize.Line(s.Name))
	}
	if of := names[upstream.Cached]; len(of) > 0 {
		fmt.Fprintln(errOut, "toolman: from the catalog cache: "+strings.Join(of, ", "))
	}
	if of := names[upstream.Gone]; len(of) > 0 {
		fmt.Fprintln(errOut, "toolman: not searched, since they do not start: "+strings.Join(of, ", ")+"; toolman doctor says why")
	}
}

func foundItems(found []router.Tool) []foundItem {
	items := []foundItem{}
	for _, t := range found {
		e := t.Entry
		items = append(items, foundItem{Name: e.Name, Kind: e.Item.Kind.String(), Server: e.Source.Name, Active: t.Active,
			Tokens: catalog.Tokens(len(e.AppendListed(nil, e.Source.Modern, false))), Description: sanitize.Summary(e.Item.Description)})
	}
	return items
}

// printFound prints one item a line: its name, and what it is.
func printFound(out io.Writer, items []foundItem) {
	width := 0
	for i := range items {
		items[i].Name = sanitize.Name(items[i].Name)
		width = max(width, min(len(items[i].Name), catalog.NameLimit))
	}
	for _, item := range items {
		about := item.Description
		if item.Kind != "tool" {
			about = strings.TrimSpace("(" + item.Kind + ") " + about)
		}
		fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%-*s  %s", width, item.Name, about), " "))
	}
}
