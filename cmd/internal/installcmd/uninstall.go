package installcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/changes"
	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/clients"
	"toolman/cmd/internal/filechange"
	"toolman/cmd/internal/logins"
	"toolman/cmd/internal/store/catalogs"
)

const uninstallHelp = `uninstall takes toolman out of the configuration of MCP clients again. A file that is as
toolman has written it is put back byte for byte; one that did not exist is removed. From
a file that has been changed since, uninstall takes out toolman's entry, and puts back the
servers that "toolman init" took out of it; the other changes stay.

--all undoes everything that install, init and import have done, also the tools.toml that
they wrote, if it is unchanged. It removes the catalog cache, too.`

func newUninstall() *cobra.Command {
	var all, dryRun bool
	cmd := &cobra.Command{
		Use:     "uninstall CLIENT... | --all",
		Short:   "Take toolman out of MCP clients again",
		Long:    uninstallHelp + "\n\n" + clientList(),
		Example: "  toolman uninstall codex\n  toolman uninstall --all --dry-run",
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return cli.Usage(errors.New("uninstall takes clients, or --all"), "toolman uninstall --all undoes everything")
			}
			u := uninstall{out: cmd.OutOrStdout(), dryRun: dryRun}
			return u.run(cmd.Context(), args)
		},
		ValidArgsFunction: completeClients,
	}
	cmd.Flags().BoolVar(&all, "all", false, "undo all that install, init and import have done, and remove the catalog cache")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print what would change, and change nothing")
	return cmd
}

type uninstall struct {
	out    io.Writer
	dryRun bool
	plan   *Plan
	errs   []error
}

// run undoes what is known of the named clients, or everything. It goes on after an error.
func (u *uninstall) run(ctx context.Context, names []string) error {
	of, err := clientsOf(names)
	if err != nil {
		return err
	}
	if u.plan, err = NewPlan(); err != nil {
		return err
	}
	if len(names) == 0 {
		removed := u.removeCache() // first: on Windows it is in the folder that the last record takes along
		for _, r := range u.plan.records {
			u.undo(ctx, r, nil)
		}
		u.forgetLogins(ctx)
		if !removed && len(u.plan.records) == 0 {
			fmt.Fprintln(u.out, "nothing to undo")
			if !u.dryRun {
				return u.plan.store.Clean(ctx)
			}
		}
		return u.end()
	}
	for _, c := range of {
		n := 0
		for _, r := range u.plan.records {
			if slices.Contains(r.Owners, c.ID) {
				u.undo(ctx, r, c)
				n++
			}
		}
		if n == 0 {
			u.takeOut(c)
		}
	}
	return u.end()
}

// removeCache removes the catalog cache, and returns false if there is none.
func (u *uninstall) removeCache() bool {
	cache, err := catalogs.Open()
	if err != nil || !cache.Exists() {
		return false
	}
	said := "would be removed"
	if !u.dryRun {
		said = "is removed"
		if err := cache.Remove(); err != nil {
			u.errs = append(u.errs, err)
			return true
		}
	}
	fmt.Fprintf(u.out, "the catalog cache %s %s\n", cache.Path(), said)
	return true
}

// forgetLogins removes what is kept of servers that want a login. The logins themselves stay: they are
// to be revoked.
func (u *uninstall) forgetLogins(ctx context.Context) {
	folder, err := logins.Open()
	if err != nil || u.dryRun {
		return
	}
	kept, err := folder.Forget(ctx)
	if err != nil {
		u.errs = append(u.errs, err)
	}
	if kept > 0 {
		fmt.Fprintf(u.out, "%s in %s; toolman logout --all revokes and removes them\n", cli.CountIs(kept, "login"), folder.Path())
	}
}

func (u *uninstall) end() error {
	if len(u.errs) == 0 {
		return nil
	}
	return cli.Failed(errors.Join(u.errs...), "correct what is wrong, and run the command again; the other files are done")
}

// undo undoes one record.
func (u *uninstall) undo(ctx context.Context, r *changes.Record, c *clients.Client) {
	owner, who := "", "" // a file of toolman's own belongs to no client
	if c != nil {
		owner, who = c.ID, c.ID+": "
	} else if len(r.Owners) > 0 {
		who = strings.Join(r.Owners, ", ") + ": "
	}
	done, err := u.plan.store.Undo(ctx, r, owner, u.dryRun)
	if err != nil {
		u.errs = append(u.errs, err)
		return
	}
	if u.dryRun {
		for _, e := range r.Edits {
			f := clients.File{Path: r.Path, Format: e.Spot.Format, Keys: e.Spot.Path}
			for _, text := range [][]byte{done.Before, r.Original} {
				if entries, err := f.Parse(text); err == nil {
					u.plan.hide(entries)
				}
			}
		}
		if len(r.Edits) > 0 { // all of a file of toolman's own would be too much
			fmt.Fprint(u.out, u.plan.mask(done.Diff()))
		}
	}
	fmt.Fprintf(u.out, "%s%s %s\n", who, r.Path, said(done.Outcome, u.dryRun))
}

// said returns what has become of a file or, in a plan, what would.
func said(o changes.Outcome, plan bool) string {
	switch {
	case !plan:
	case o == changes.Restored:
		return "would be as it was before"
	case o == changes.Removed:
		return "would be removed: toolman has made it"
	case o == changes.Edited:
		return "has changed since: toolman's entry would be taken out, other changes would stay"
	}
	switch o {
	case changes.Restored:
		return "is as it was before"
	case changes.Removed:
		return "is removed: toolman had made it"
	case changes.Edited:
		return "has changed since: toolman's entry is out, other changes stay"
	case changes.Kept:
		return "has changed since, and stays"
	case changes.Gone:
		return "is gone already"
	}
	return "stays: other clients need it"
}

// takeOut takes entries out that somebody else has written. There is nothing to undo then.
func (u *uninstall) takeOut(c *clients.Client) {
	lines, err := u.takeOutOf(c)
	if len(lines) == 0 && err == nil {
		lines = []string{c.ID + ": toolman is not registered"}
	}
	for _, line := range lines {
		fmt.Fprintln(u.out, line)
	}
	if err != nil {
		u.errs = append(u.errs, err)
	}
}

// takeOutOf returns a line for each entry that it has taken out.
func (u *uninstall) takeOutOf(c *clients.Client) (lines []string, err error) {
	place, err := clients.Here()
	if err != nil {
		return nil, err
	}
	plan, err := NewPlan()
	if err != nil {
		return nil, err
	}
	verb := "is"
	if u.dryRun {
		verb = "would be"
	}
	for _, f := range c.Files(place) {
		entries, err := f.Read()
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if !e.IsToolman {
				continue
			}
			if err := plan.TakeOut(f, e.Name); err != nil {
				return nil, err
			}
			lines = append(lines, fmt.Sprintf("%s: %s %s out of %s", c.ID, e.Name, verb, f.Path))
		}
	}
	if u.dryRun {
		fmt.Fprint(u.out, plan.Diff())
		return lines, nil
	}
	var all []filechange.Change
	for _, c := range plan.Changes() {
		all = append(all, c.Change)
	}
	if err := filechange.Apply(all...); err != nil {
		return nil, err
	}
	return lines, nil
}
