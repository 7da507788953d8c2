package toolsetcmd

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config"
	"toolman/cmd/internal/engine"
	"toolman/cmd/internal/setup"
	"toolman/cmd/internal/store"
	"toolman/cmd/internal/store/shared"
	"toolman/jsonrpc/trace/redact"
	"toolman/mcpwire/sanitize"
	"toolman/router"
	"toolman/router/catalog"
	"toolman/router/toolset"
)

const help = `A toolset is a name for some tools. It is written in tools.toml, or saved in
.toolman/toolsets.json beside it: by build, or by a model with build-toolset.

A toolset that a client of toolman serve saves with a credential belongs to that client:
other clients do not see it. A toolset that is saved here, or over stdio, is yours: all
clients see it, and none of them can delete it. "toolman help toolsets" says more.`

// A command is one run of a command about toolsets.
type command struct {
	*cobra.Command
	flags  *engine.Flags
	config *config.Config
	o      router.Options
	folder store.Toolsets
	saved  toolset.Shelf // of the cluster, or the folder

	owner, description, version string
	replace, asJSON             bool
	log                         string        // of suggest
	since                       time.Duration // of suggest
}

// New returns the command toolset.
func New(flags *engine.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "toolset",
		Short: "Build, list and equip toolsets",
		Long:  help,
		Args:  cli.NoCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	add := func(use, short string, least, most int, run func(c *command, args []string) error) *command {
		c := &command{flags: flags}
		c.Command = &cobra.Command{
			Use: use, Short: short, Args: cli.Args(least, most),
			RunE: func(_ *cobra.Command, args []string) error {
				if err := c.load(); err != nil {
					return err
				}
				if c.config.Cluster != nil {
					defer c.join()()
				}
				return run(c, args)
			},
		}
		cmd.AddCommand(c.Command)
		return c
	}
	build := add("build NAME TOOL...", "Save some tools as a toolset", 2, -1, func(c *command, args []string) error { return c.build(args[0], args[1:]) })
	build.Long = "build starts every server and saves tools, each by its name and by the hash of its definition.\nTOOL is a name or a glob."
	build.Flags().StringVar(&build.description, "description", "", "what the toolset is for")
	build.Flags().StringVar(&build.version, "version", "", "its `version`; without this it is 1.0.0, or with --replace the next patch version")
	build.Flags().BoolVar(&build.replace, "replace", false, "replace the saved toolset of that name")
	list := add("list", "List all toolsets", 0, 0, func(c *command, _ []string) error { return c.list() })
	show := add("show NAME", "Start every server and show the tools of a toolset", 1, 1, func(c *command, args []string) error { return c.show(args[0]) })
	add("equip NAME", "Activate only a toolset's tools at the next start", 1, 1, func(c *command, args []string) error { return c.equip(args[0]) })
	add("unequip", "Activate at the next start what active_toolsets says", 0, 0, func(c *command, _ []string) error { return c.equip("") })
	del := add("delete NAME", "Delete a saved toolset", 1, 1, func(c *command, args []string) error { return c.delete(args[0]) })
	export := add("export NAME", "Print a saved toolset as JSON", 1, 1, func(c *command, args []string) error { return c.export(args[0]) })
	imports := add("import FILE", "Save a toolset, or several, from a JSON file; - is standard input", 1, 1, func(c *command, args []string) error { return c.importFile(args[0]) })
	imports.Long = "import saves what export has printed, and files of hypertool: one toolset, or an object of toolsets by\ntheir names. Each keeps its version. A toolset that cannot be used is left out, and the others are saved."
	imports.Flags().BoolVar(&imports.replace, "replace", false, "replace saved toolsets of the same names")
	suggest := add("suggest", "Suggest toolsets from the audit log, and list unused tools", 0, 0, func(c *command, _ []string) error { return c.suggest() })
	suggest.Long = suggestHelp
	suggest.Flags().StringVar(&suggest.log, "log", "", "the audit log `FILE`; without this it is audit_log of tools.toml")
	suggest.Flags().DurationVar(&suggest.since, "since", 0, "only calls of this `time` before now, such as 720h; without this all")
	for _, c := range []*command{list, show, suggest} {
		c.Flags().BoolVar(&c.asJSON, "json", false, "print JSON")
	}
	for _, c := range []*command{show, del, export} {
		c.Flags().StringVar(&c.owner, "owner", "", "the `client` that has saved it; without this it is yours")
	}
	return cmd
}

// load loads the configuration.
func (c *command) load() (err error) {
	c.flags.Cluster = true
	if c.config, err = c.flags.Load(); err != nil {
		return err
	}
	c.folder = store.ToolsetsBeside(c.config.Beside)
	c.o, err = setup.Options(c.config, redact.NewScrubber(c.config.Secrets))
	c.saved = c.folder
	return err
}

// join uses the toolsets that the replicas of the configuration share. Without the engine they are
// those of the file, and cannot be changed.
func (c *command) join() (leave func()) {
	warn := func(err error) { fmt.Fprintf(c.flags.Stderr, "toolman: %v\n", err) }
	shelf, leave, err := shared.Join(c.Context(), c.config.Cluster, c.folder, warn)
	if err != nil {
		warn(fmt.Errorf("the toolsets are those of the last copy in %s: %w", c.folder.Sets(), err))
	}
	c.saved, c.o.Shelf = shelf, shelf
	return leave
}

func (c *command) print(format string, args ...any) error {
	_, err := fmt.Fprintf(c.OutOrStdout(), format+"\n", args...)
	return err
}

// catalog starts every server, and reports on standard error which are not ready.
func (c *command) catalog() (*catalog.Catalog, error) {
	r, err := engine.Check(c.Context(), c.config, c.flags.Stderr)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for _, name := range r.NotReady() {
		fmt.Fprintf(c.flags.Stderr, "toolman: server %s is not ready; its tools are missing here (toolman check says why)\n", name)
	}
	return r.Catalog(), nil
}

// equip equips a toolset at the next start, or none for "".
func (c *command) equip(name string) error {
	what := "what active_toolsets says"
	if name != "" {
		set, err := setup.FindSet(&c.o, "", name)
		if err != nil {
			return err
		}
		what = "the tools of " + set.Name + " alone"
	}
	if err := c.folder.Equip(c.Context(), name); err != nil {
		return err
	}
	return c.print("the next start begins with %s", what)
}

func (c *command) delete(name string) error {
	if err := c.saved.Update(c.Context(), toolset.Remove(c.owner, name, c.o.Toolsets)); err != nil {
		return err
	}
	if equipped, err := c.folder.Equipped(); err == nil && equipped == name && c.owner == "" {
		if err := c.folder.Equip(c.Context(), ""); err != nil {
			return err
		}
	}
	return c.print("deleted %s", name)
}

func (c *command) export(name string) error {
	set, err := setup.FindSet(&c.o, c.owner, name)
	if err != nil {
		return err
	}
	if !set.Saved() {
		return cli.Failed(fmt.Errorf("toolset %s is in tools.toml (line %d)", set.Name, set.Line),
			"build one of the same tools to export that: toolman toolset build NAME TOOL...")
	}
	free := *set
	free.Owner = "" // it will belong to the user who imports it
	_, err = io.WriteString(c.OutOrStdout(), sanitize.JSON(string(store.FormatToolsets(map[string]toolset.Set{free.Key(): free}))))
	return err
}

// importFile saves the toolsets of a file.
func (c *command) importFile(path string) error {
	sets, err := store.ReadToolsets(path, c.InOrStdin())
	if err != nil {
		return err
	}
	if len(sets) == 0 {
		return errors.New(path + " holds no toolsets")
	}
	broken := c.leaveOutBroken(sets)
	if len(sets) == 0 {
		return cli.Failed(fmt.Errorf("%s holds no toolset that can be used", path), "correct what is named above")
	}
	err = c.saved.Update(c.Context(), func(saved map[string]toolset.Set) error {
		for _, set := range sets {
			set.Owner = ""
			if err := c.add(set)(saved); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := c.print("saved %s", cli.Count(len(sets), "toolset")); err != nil || broken == 0 {
		return err
	}
	return cli.Failed(fmt.Errorf("%s of %s left out", cli.CountIs(broken, "toolset"), path), "correct what is named above, and import it again with --replace")
}

// leaveOutBroken removes the toolsets that cannot be used, and returns their number. It reports
// them and the references that cannot be used on standard error.
func (c *command) leaveOutBroken(sets map[string]toolset.Set) (removed int) {
	for _, key := range slices.Sorted(maps.Keys(sets)) {
		set := sets[key]
		if set.Broken != "" {
			delete(sets, key)
			removed++
			fmt.Fprintf(c.flags.Stderr, "toolman: toolset %s is left out: %s\n", set.Name, sanitize.Line(set.Broken))
		}
		for _, ref := range set.Tools {
			if ref.Broken != "" {
				fmt.Fprintf(c.flags.Stderr, "toolman: a tool of toolset %s cannot be used: %s\n", set.Name, sanitize.Line(ref.Broken))
			}
		}
	}
	return removed
}

func (c *command) build(name string, tools []string) error {
	saved, err := c.saved.Load()
	if err != nil {
		return err
	}
	if err := c.add(toolset.Set{Name: name})(saved); err != nil { // before servers are started
		return err
	}
	patterns, err := setup.CompilePatterns(tools)
	if err != nil {
		return cli.Usage(fmt.Errorf("a glob cannot be used: %w", err), `close every [ and {, or write \ before a character to match it`)
	}
	offered, err := c.catalog()
	if err != nil {
		return err
	}
	var refs []toolset.Ref
	for _, p := range patterns {
		found := offered.Expand(&toolset.Set{Patterns: []toolset.Pattern{p}}).Resolutions[0].Tools
		if len(found) == 0 {
			found = []string{p.Text} // Build reports similar names
		}
		for _, tool := range found {
			refs = append(refs, toolset.Ref{NamespacedName: tool})
		}
	}
	set, err := offered.Build(toolset.Set{Name: name, Description: c.description, Version: c.version}, refs)
	if err != nil {
		return cli.Failed(err, "names are those that clients see, with their namespace")
	}
	err = c.saved.Update(c.Context(), func(saved map[string]toolset.Set) error {
		if old, rebuilt := saved[set.Key()]; rebuilt && c.version == "" {
			set.Version = toolset.NextVersion(old.Version)
		}
		return c.add(set)(saved)
	})
	if err != nil {
		return err
	}
	return c.print("saved %s with %s, version %s", set.Name, cli.Count(len(set.Tools), "tool"), sanitize.Line(set.Version))
}

// add returns a change that adds a toolset to the saved ones. It may replace one only with
// --replace.
func (c *command) add(set toolset.Set) func(map[string]toolset.Set) error {
	add := toolset.Add(set, c.o.Toolsets)
	return func(saved map[string]toolset.Set) error {
		if _, taken := saved[set.Key()]; taken && !c.replace {
			return cli.Failed(fmt.Errorf("toolset %s already exists", set.Name), "--replace takes its place")
		}
		delete(saved, set.Key())
		return add(saved)
	}
}
