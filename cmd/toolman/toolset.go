package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/toolsets"
	"toolman/mcpwire/sanitize"
	"toolman/router"
	"toolman/router/catalog"
	"toolman/router/toolset"
)

const toolsetHelp = `A toolset is a name for some tools. Those of tools.toml are written there:

  [toolsets.reading]
  tools = ["fs_read*", "mem_search"]   # names and globs

Others are built here, or by a model with build-toolset (meta_tools in tools.toml), and
saved in .toolman/toolsets.json beside tools.toml, where each tool stands with its name
and the hash of its definition: a tool that has changed since is left out until the
toolset is built again, unless allow_stale_refs = true.

What a client of toolman serve saves with a credential belongs to it: other clients do not
see it. What is saved here, or over stdio, is yours: all clients see it, and none of those
can delete it. --owner names a client's toolset, as list shows the owner.

The toolset that is equipped here is the one that toolman begins with when it is started
the next time: its tools are then the only ones that are active.`

func newToolsetCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "toolset",
		Short: "Build, list and equip toolsets",
		Long:  toolsetHelp,
		Args:  noCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newBuildSetCommand(a), newListSetsCommand(a), newShowSetCommand(a),
		setCommand(a, "equip NAME", "Have the next start begin with a toolset", 1, equipSet),
		setCommand(a, "unequip", "Have the next start begin without one", 0, unequipSet),
		ownedCommand(a, "delete NAME", "Delete a saved toolset", deleteSet),
		ownedCommand(a, "export NAME", "Print a saved toolset as JSON", exportSet),
		newImportSetsCommand(a))
	return cmd
}

// A setJob is what a command about toolsets works with.
type setJob struct {
	*app
	cmd    *cobra.Command
	ctx    context.Context
	config *config.Config
	o      router.Options
	folder toolsets.Folder
}

// setCommand makes a command with so many arguments.
func setCommand(a *app, use, short string, args int, run func(j *setJob, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: argumentCount(args, args),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := a.setJob(cmd)
			if err != nil {
				return err
			}
			return run(j, args)
		},
	}
}

// ownedCommand makes a command about one toolset, which may be a client's.
func ownedCommand(a *app, use, short string, run func(j *setJob, owner, name string) error) *cobra.Command {
	var owner string
	cmd := setCommand(a, use, short, 1, func(j *setJob, args []string) error { return run(j, owner, args[0]) })
	cmd.Flags().StringVar(&owner, "owner", "", "the `client` that has saved it; without this it is yours")
	return cmd
}

func (a *app) setJob(cmd *cobra.Command) (*setJob, error) {
	c, at, err := a.load()
	if err != nil {
		return nil, err
	}
	o, err := options(c)
	return &setJob{app: a, cmd: cmd, ctx: cmd.Context(), config: c, o: o, folder: toolsets.In(at.Path)}, err
}

// argumentCount refuses other numbers of arguments than from least to most; -1 is no
// bound.
func argumentCount(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && (most < 0 || len(args) <= most) {
			return nil
		}
		return usage(fmt.Errorf("%s cannot be called with %s", cmd.CommandPath(), counted(len(args), "argument")), "write "+strings.TrimSuffix(cmd.UseLine(), " [flags]"))
	}
}

func (j *setJob) print(format string, args ...any) error {
	_, err := fmt.Fprintf(j.cmd.OutOrStdout(), format+"\n", args...)
	return err
}

// catalog starts every server, and says on standard error which could not be had.
func (j *setJob) catalog() (*catalog.Catalog, error) {
	r, err := j.startChecked(j.ctx, j.config)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for _, name := range notReady(r.Router) {
		fmt.Fprintf(j.stderr, "toolman: server %s is not ready; its tools are missing here (toolman check says why)\n", name)
	}
	return r.Catalog(), nil
}

func equipSet(j *setJob, args []string) error {
	set, err := findSet(&j.o, "", args[0])
	if err != nil {
		return err
	}
	if err := j.folder.Equip(j.ctx, set.Name); err != nil {
		return err
	}
	return j.print("the next start begins with the tools of %s alone", set.Name)
}

func unequipSet(j *setJob, _ []string) error {
	if err := j.folder.Equip(j.ctx, ""); err != nil {
		return err
	}
	return j.print("the next start begins with what active_toolsets says")
}

func deleteSet(j *setJob, owner, name string) error {
	if err := j.folder.Update(j.ctx, catalog.Remove(owner, name, j.o.Toolsets)); err != nil {
		return err
	}
	if was, err := j.folder.Equipped(); err == nil && was == name && owner == "" {
		if err := j.folder.Equip(j.ctx, ""); err != nil {
			return err
		}
	}
	return j.print("deleted %s", name)
}

func exportSet(j *setJob, owner, name string) error {
	set, err := findSet(&j.o, owner, name)
	if err != nil {
		return err
	}
	if !set.Saved() {
		return &exitError{fmt.Errorf("toolset %s is in tools.toml (line %d)", set.Name, set.Line), exitFailed,
			"build one of the same tools to export that: toolman toolset build NAME TOOL..."}
	}
	free := *set
	free.Owner = "" // whoever imports it is the next one
	text, err := toolsets.Format(map[string]toolset.Set{free.Key(): free})
	if err != nil {
		return err
	}
	_, err = io.WriteString(j.cmd.OutOrStdout(), sanitize.JSON(string(text)))
	return err
}

func newBuildSetCommand(a *app) *cobra.Command {
	var description string
	var replace bool
	cmd := setCommand(a, "build NAME TOOL...", "Save some tools as a toolset", 2, func(j *setJob, args []string) error {
		return j.build(args[0], description, args[1:], replace)
	})
	cmd.Args = argumentCount(2, -1)
	cmd.Long = "build starts every server and saves tools, each by its name and by the hash of its definition.\nTOOL is a name or a glob."
	cmd.Flags().StringVar(&description, "description", "", "what the toolset is for")
	cmd.Flags().BoolVar(&replace, "replace", false, "replace the saved toolset of that name")
	return cmd
}

func (j *setJob) build(name, description string, tools []string, replace bool) error {
	if err := j.free(name, replace); err != nil {
		return err
	}
	patterns, err := compile(tools)
	if err != nil {
		return usage(fmt.Errorf("a glob cannot be used: %w", err), `close every [ and {, or write \ before one that is meant as it is`)
	}
	catalog, err := j.catalog()
	if err != nil {
		return err
	}
	var refs []toolset.Ref
	for _, p := range patterns {
		found := catalog.Expand(&toolset.Set{Patterns: []toolset.Pattern{p}}).Resolutions[0].Tools
		if len(found) == 0 {
			found = []string{p.Text} // Build says what may be meant
		}
		for _, tool := range found {
			refs = append(refs, toolset.Ref{NamespacedName: tool})
		}
	}
	set, err := catalog.Build(name, description, refs)
	if err != nil {
		return &exitError{err, exitFailed, "names are those that clients see, with their namespace"}
	}
	if err := j.folder.Update(j.ctx, j.add(set, replace)); err != nil {
		return err
	}
	return j.print("saved %s with %s", set.Name, counted(len(set.Tools), "tool"))
}

// free is an error when a toolset of that name cannot be saved.
func (j *setJob) free(name string, replace bool) error {
	saved, err := j.folder.Load()
	if err != nil {
		return err
	}
	return j.add(toolset.Set{Name: name}, replace)(saved)
}

// add is [router.Add], which may take the place of a saved one.
func (j *setJob) add(set toolset.Set, replace bool) func(map[string]toolset.Set) error {
	add := catalog.Add(set, j.o.Toolsets)
	return func(saved map[string]toolset.Set) error {
		if _, taken := saved[set.Key()]; taken && !replace {
			return &exitError{fmt.Errorf("toolset %s already exists", set.Name), exitFailed, "--replace takes its place"}
		}
		delete(saved, set.Key())
		return add(saved)
	}
}

func newImportSetsCommand(a *app) *cobra.Command {
	var replace bool
	cmd := setCommand(a, "import FILE", "Save toolsets that export has printed; - is standard input", 1, func(j *setJob, args []string) error {
		return j.importSets(args[0], replace)
	})
	cmd.Flags().BoolVar(&replace, "replace", false, "replace saved toolsets of the same names")
	return cmd
}

func (j *setJob) importSets(path string, replace bool) error {
	sets, err := toolsets.ReadFile(path, j.stdin)
	if err != nil {
		return err
	}
	if len(sets) == 0 {
		return errors.New(path + " holds no toolsets")
	}
	err = j.folder.Update(j.ctx, func(saved map[string]toolset.Set) error {
		for _, set := range sets {
			set.Owner = ""
			if err := j.add(set, replace)(saved); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return j.print("saved %s", counted(len(sets), "toolset"))
}
